package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"unicode/utf8"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/signin"
)

// SignIn decides about sign-ins and learns how they ended.
type SignIn interface {
	// Evaluate says what is asked at a sign-in whose password was right.
	// Errors: log_unavailable, log_full.
	Evaluate(ctx context.Context, a signin.Attempt) (signin.Decision, error)
	// Record remembers how a sign-in ended; after that, Evaluate knows it.
	// Errors: log_unavailable, log_full; store_unavailable when it will take
	// effect later.
	Record(ctx context.Context, a signin.Attempt, success bool) error
}

const (
	// maxAccount bounds an account's name in characters: that of the longest
	// column that applications keep names in and can index.
	maxAccount = 190
	// maxMethods and maxMethodKey bound what is sent of methods, which ends up
	// on the log. Nobody has set up more of them.
	maxMethods, maxMethodKey = 32, 64
)

// signInBody is the body of both routes. A field that was not sent is nil.
type signInBody struct {
	Side        json.RawMessage `json:"side"`
	Account     json.RawMessage `json:"account"`
	IP          json.RawMessage `json:"ip"`
	Methods     json.RawMessage `json:"methods"`
	Success     json.RawMessage `json:"success"`
	MethodsUsed json.RawMessage `json:"methods_used"`
}

// evaluateSignIn says what is asked beyond the password.
func (s *service) evaluateSignIn(c *call) (answer, error) {
	var body signInBody
	if err := c.bind(&body); err != nil {
		return answer{}, err
	}
	attempt, err := body.attempt()
	if err != nil {
		return answer{}, err
	}
	if attempt.Methods, err = methodsIn("methods", body.Methods); err != nil {
		return answer{}, err
	}
	return told(s.SignIn.Evaluate(c.Request.Context(), attempt))
}

// recordSignIn learns how a sign-in ended.
func (s *service) recordSignIn(c *call) (answer, error) {
	var body signInBody
	if err := c.bind(&body); err != nil {
		return answer{}, err
	}
	attempt, err := body.attempt()
	if err != nil {
		return answer{}, err
	}
	if body.Success == nil {
		return answer{}, missing("success", "true or false")
	}
	success, err := switchIn("success", body.Success)
	if err != nil {
		return answer{}, err
	}
	if attempt.Methods, err = methodsIn("methods_used", body.MethodsUsed); err != nil {
		return answer{}, err
	}
	return told(map[string]bool{"recorded": true}, s.SignIn.Record(c.Request.Context(), attempt, success))
}

// attempt reads whose sign-in it is and where it comes from. Errors:
// invalid_body, invalid_side, invalid_account, invalid_ip.
func (b *signInBody) attempt() (r signin.Attempt, err error) {
	var side, account, ip *string
	for _, field := range []struct {
		name string
		sent json.RawMessage
		to   **string
	}{{"side", b.Side, &side}, {"account", b.Account, &account}, {"ip", b.IP, &ip}} {
		if field.sent == nil {
			return r, missing(field.name, "a string")
		}
		if err := optionalText(field.name, field.sent, field.to); err != nil {
			return r, err
		}
	}
	r.Side, r.Account = signin.Side(*side), *account
	if r.Side != signin.Admin && r.Side != signin.Client {
		return r, refuse(errata.KindInvalidSide, "side", "The field side is admin or client.")
	}
	if length := utf8.RuneCountInString(r.Account); length == 0 || length > maxAccount {
		err := errata.Errorf(errata.KindInvalidAccount, "The field account has %d characters, and takes 1 to %d.", length, maxAccount)
		err.Details = map[string]any{"field": "account", "max": maxAccount}
		return r, err
	}
	addr, err := netip.ParseAddr(strings.TrimSpace(*ip))
	if err != nil || addr.Zone() != "" {
		return r, refuse(errata.KindInvalidIP, "ip", "The field ip is an address, like 203.0.113.9 or 2001:db8::1.")
	}
	r.Address = addr.Unmap()
	return r, nil
}

// methodsIn reads keys of methods; none were sent is none. Errors:
// invalid_body, invalid_method.
func methodsIn(field string, sent json.RawMessage) ([]string, error) {
	if sent == nil {
		return nil, nil
	}
	keys, err := textsIn(field, sent)
	if err != nil {
		return nil, err
	}
	if len(keys) > maxMethods {
		return nil, refuse(errata.KindInvalidMethod, field, fmt.Sprintf("The field %s has %d entries and takes at most %d.", field, len(keys), maxMethods))
	}
	for _, key := range keys {
		if len(key) > maxMethodKey {
			return nil, refuse(errata.KindInvalidMethod, field, fmt.Sprintf("The field %s has a key of %d bytes, and one has at most %d.", field, len(key), maxMethodKey))
		}
	}
	return keys, nil
}

// missing is the error for a field that must be sent.
func missing(field, wanted string) error {
	return refuse(errata.KindInvalidBody, field, "The field "+field+" is missing; it takes "+wanted+".")
}

func refuse(kind errata.Kind, field, message string) error {
	return &errata.Error{Kind: kind, Message: message, Details: map[string]any{"field": field}}
}
