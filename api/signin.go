package api

import (
	"context"
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
	// maxAccount bounds an account's name in characters. It is the longest text
	// column that applications can index.
	maxAccount = 190
	// maxMethods and maxMethodKey bound the list of methods, which is stored on
	// the log. Nobody has set up more of them.
	maxMethods, maxMethodKey = 32, 64
)

// attemptBody is what both bodies have in common.
type attemptBody struct {
	Side    errata.Optional[string] `json:"side" required:"a string"`
	Account errata.Optional[string] `json:"account" required:"a string"`
	IP      errata.Optional[string] `json:"ip" required:"a string"`
}

type evaluateBody struct {
	attemptBody
	Methods errata.Optional[[]string] `json:"methods"`
}

// evaluateSignIn says what is asked beyond the password.
func (s *service) evaluateSignIn(c *call, body evaluateBody) (answer, error) {
	attempt, err := body.attempt("methods", body.Methods)
	if err != nil {
		return answer{}, err
	}
	return reply(s.SignIn.Evaluate(c.Request.Context(), attempt))
}

type outcomeBody struct {
	attemptBody
	Success     errata.Optional[bool]     `json:"success" required:"true or false"`
	MethodsUsed errata.Optional[[]string] `json:"methods_used"`
}

// recordSignIn notes how a sign-in ended.
func (s *service) recordSignIn(c *call, body outcomeBody) (answer, error) {
	attempt, err := body.attempt("methods_used", body.MethodsUsed)
	if err != nil {
		return answer{}, err
	}
	return reply(map[string]bool{"recorded": true}, s.SignIn.Record(c.Request.Context(), attempt, body.Success.Or(false)))
}

// attempt checks the side, the account, the address and the methods. field is
// the name by which the methods were sent. Errors: invalid_side,
// invalid_account, invalid_ip, invalid_method.
func (b *attemptBody) attempt(field string, methods errata.Optional[[]string]) (r signin.Attempt, err error) {
	r.Side, r.Account, r.Methods = signin.Side(b.Side.Or("")), b.Account.Or(""), methods.Or(nil)
	if r.Side != signin.Admin && r.Side != signin.Client {
		return r, refuse(errata.KindInvalidSide, "side", "The field side is admin or client.")
	}
	if length := utf8.RuneCountInString(r.Account); length == 0 || length > maxAccount {
		return r, errata.Errorf(errata.KindInvalidAccount, "The field account has %d characters, and takes 1 to %d.", length, maxAccount).
			With(map[string]any{"field": "account", "max": maxAccount})
	}
	addr, err := netip.ParseAddr(strings.TrimSpace(b.IP.Or("")))
	if err != nil || addr.Zone() != "" {
		return r, refuse(errata.KindInvalidIP, "ip", "The field ip is an address, like 203.0.113.9 or 2001:db8::1.")
	}
	r.Address = addr.Unmap()
	if n := len(r.Methods); n > maxMethods {
		return r, refuse(errata.KindInvalidMethod, field, fmt.Sprintf("The field %s has %d entries and takes at most %d.", field, n, maxMethods))
	}
	for _, key := range r.Methods {
		if len(key) > maxMethodKey {
			return r, refuse(errata.KindInvalidMethod, field, fmt.Sprintf("The field %s has a key of %d bytes, and one has at most %d.", field, len(key), maxMethodKey))
		}
	}
	return r, nil
}
