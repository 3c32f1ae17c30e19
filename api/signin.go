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
	Evaluate(ctx context.Context, r SignInRequest) (SignInDecision, error)
	// Record remembers how a sign-in ended; after that, Evaluate knows it.
	// Errors: log_unavailable, log_full; store_unavailable when it will take
	// effect later.
	Record(ctx context.Context, o SignInOutcome) error
}

// SignInRequest is a sign-in that is to be decided about.
type SignInRequest struct {
	Side    signin.Side
	Account string
	// Address is where it comes from, IPv4 as such.
	Address netip.Addr
	// Methods are the keys of the second-step methods that the account has set up.
	Methods []string
}

// SignInDecision is what is asked.
type SignInDecision struct {
	signin.Decision
	// Country is where the sign-in comes from, a code of two letters; "" when
	// nobody can tell.
	Country string
}

// SignInOutcome is how a sign-in ended.
type SignInOutcome struct {
	Side    signin.Side
	Account string
	Address netip.Addr
	Success bool
	// Methods are those that were used.
	Methods []string
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

// checkJSON is a check in answers.
type checkJSON struct {
	Kind    signin.Kind `json:"kind"`
	Methods []string    `json:"methods"`
	Reason  string      `json:"reason"`
}

// decisionJSON is a decision in answers.
type decisionJSON struct {
	Checks   []checkJSON      `json:"checks"`
	Remind   bool             `json:"remind"`
	Warnings []signin.Warning `json:"warnings"`
	Place    string           `json:"place"`
}

// evaluateSignIn says what is asked beyond the password.
func (s *service) evaluateSignIn(c *call) (answer, error) {
	var body signInBody
	if err := c.bind(&body); err != nil {
		return answer{}, err
	}
	who, err := body.who()
	if err != nil {
		return answer{}, err
	}
	if who.Methods, err = methodsIn("methods", body.Methods); err != nil {
		return answer{}, err
	}
	d, err := s.SignIn.Evaluate(c.Request.Context(), who)
	if err != nil {
		return answer{}, err
	}
	told := decisionJSON{Checks: []checkJSON{}, Remind: d.Remind, Warnings: append([]signin.Warning{}, d.Warnings...), Place: d.Country}
	for _, check := range d.Checks {
		told.Checks = append(told.Checks, checkJSON(check))
	}
	return answer{data: told}, nil
}

// recordSignIn learns how a sign-in ended.
func (s *service) recordSignIn(c *call) (answer, error) {
	var body signInBody
	if err := c.bind(&body); err != nil {
		return answer{}, err
	}
	who, err := body.who()
	if err != nil {
		return answer{}, err
	}
	outcome := SignInOutcome{Side: who.Side, Account: who.Account, Address: who.Address}
	if body.Success == nil {
		return answer{}, missing("success", "true or false")
	}
	if outcome.Success, err = switchIn("success", body.Success); err != nil {
		return answer{}, err
	}
	if outcome.Methods, err = methodsIn("methods_used", body.MethodsUsed); err != nil {
		return answer{}, err
	}
	if err := s.SignIn.Record(c.Request.Context(), outcome); err != nil {
		return answer{}, err
	}
	return answer{data: map[string]bool{"recorded": true}}, nil
}

// who reads whose sign-in it is and where it comes from. Errors: invalid_body,
// invalid_side, invalid_account, invalid_ip.
func (b *signInBody) who() (r SignInRequest, err error) {
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
