package api

import (
	"context"
	"net/http"
	"net/netip"
	"unicode/utf8"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/signin"
	"github.com/errata-log/errata/signin/challenge"
)

// Challenges sends one-time codes, and checks them and the codes of
// authenticator apps. A method that is turned off stops working at once, on
// every node. Errors of all: log_unavailable; of those that make or take a code
// also rate_limited.
type Challenges interface {
	// Send makes a code and sends it. Errors: invalid_method, method_off,
	// mail_module_required, invalid_recipient, mail_refused, mail_unavailable.
	Send(ctx context.Context, r signin.CodeRequest) (signin.SentCode, error)
	// Verify checks the answer to a challenge. Errors: method_off and, where mail
	// is no longer configured, mail_module_required.
	Verify(ctx context.Context, a challenge.Answer) (challenge.Verdict, error)
	// Enrol draws the secret of an account's authenticator app; label is the
	// name that the app shows. Errors: method_off, already_enrolled.
	Enrol(ctx context.Context, account, label string) (challenge.App, error)
	// Confirm takes the first code of an app, and with it the app. Errors:
	// method_off.
	Confirm(ctx context.Context, a challenge.Answer) (challenge.Verdict, error)
	// VerifyApp checks a code of a confirmed app. Errors: method_off.
	VerifyApp(ctx context.Context, a challenge.Answer) (challenge.Verdict, error)
	// Remove forgets an account's app.
	Remove(ctx context.Context, account string) error
	// SendTestMail sends a mail that says that mails arrive. Errors: as Send.
	SendTestMail(ctx context.Context, to string) error
}

// challengeBody is the body of all routes below sign-in; each reads its part.
type challengeBody struct {
	Side    signin.Side `json:"side"`
	Account string      `json:"account"`
	Method  string      `json:"method"`
	To      string      `json:"to"`
	Purpose signin.Kind `json:"purpose"`
	Code    *string     `json:"code"`
	Label   string      `json:"label"`
	Address string      `json:"address"`
}

// maxCode is far above what a person types for six digits, with blanks.
const maxCode = 64

// challenged reads the body of a route below sign-in and checks what all of
// them have. from is the address that the sign-in comes from.
func challenged(handle func(c *call, b challengeBody, from netip.Addr) (answer, error)) handler {
	return withBody(func(c *call, b challengeBody) (answer, error) {
		from, err := b.check()
		if err != nil {
			return answer{}, err
		}
		return handle(c, b, from)
	})
}

func (b *challengeBody) check() (from netip.Addr, err error) {
	if b.Account == "" || utf8.RuneCountInString(b.Account) > maxAccount || utf8.RuneCountInString(b.Label) > maxAccount {
		return from, errata.Errorf(errata.KindInvalidAccount, "account names who signs in, and label what an app shows, in at most %d characters.", maxAccount)
	}
	if b.Purpose == "" {
		b.Purpose = signin.CheckTwoFactor
	}
	switch b.Purpose {
	case signin.CheckTwoFactor, signin.CheckLocation, signin.CheckAddress:
	default:
		return from, errata.Errorf(errata.KindInvalidPurpose, "purpose is %s, %s or %s.", signin.CheckTwoFactor, signin.CheckLocation, signin.CheckAddress)
	}
	if b.Address != "" {
		if from, err = netip.ParseAddr(b.Address); err != nil {
			return from, errata.Errorf(errata.KindInvalidIP, "address is where the sign-in comes from, like 203.0.113.9 or 2001:db8::1.")
		}
	}
	return from, nil
}

// typed is the code that was typed. Errors: invalid_body when none was sent, as
// by a caller that calls it otherwise.
func (b *challengeBody) typed() (string, error) {
	switch {
	case b.Code == nil:
		return "", refuse(errata.KindInvalidBody, "code", "The field code is missing; it takes what was typed, as a string.")
	case len(*b.Code) > maxCode:
		return "", nil // malformed, as any other wrong text
	}
	return *b.Code, nil
}

// sendChallenge sends a one-time code.
func (s *service) sendChallenge(c *call, b challengeBody, from netip.Addr) (answer, error) {
	if b.Side != signin.Admin && b.Side != signin.Client {
		return answer{}, errata.Errorf(errata.KindInvalidSide, "side is %s or %s.", signin.Admin, signin.Client)
	}
	sent, err := s.Challenges.Send(c.Request.Context(), signin.CodeRequest{
		Account: b.Account, Purpose: b.Purpose, Method: b.Method, To: b.To, Address: from,
	})
	return answer{status: http.StatusCreated, data: map[string]any{
		"id": sent.ID, "method": sent.Method, "expires_at": errata.Instant(sent.Expires),
	}}, err
}

// verifyChallenge checks the answer to one.
func (s *service) verifyChallenge(c *call, b challengeBody, from netip.Addr) (answer, error) {
	code, err := b.typed()
	if err != nil {
		return answer{}, err
	}
	return reply(s.Challenges.Verify(c.Request.Context(), challenge.Answer{
		ID: c.Param("id"), Account: b.Account, Purpose: string(b.Purpose), Code: code, Address: from,
	}))
}

// enrolAuthenticator shows the secret of a new app.
func (s *service) enrolAuthenticator(c *call, b challengeBody, _ netip.Addr) (answer, error) {
	if b.Label == "" {
		b.Label = b.Account
	}
	app, err := s.Challenges.Enrol(c.Request.Context(), b.Account, b.Label)
	return answer{status: http.StatusCreated, data: app}, err
}

// askAuthenticator checks a code of an authenticator app: the first one with
// [Challenges.Confirm], a later one with [Challenges.VerifyApp].
func askAuthenticator(ask func(Challenges, context.Context, challenge.Answer) (challenge.Verdict, error)) handler {
	return challenged(func(c *call, b challengeBody, from netip.Addr) (answer, error) {
		code, err := b.typed()
		if err != nil {
			return answer{}, err
		}
		verdict, err := ask(c.service.Challenges, c.Request.Context(), challenge.Answer{Account: b.Account, Code: code, Address: from})
		return reply(map[string]any{"verified": verdict.Verified, "outcome": verdict.Outcome}, err)
	})
}

// removeAuthenticator forgets an app, also one that was never confirmed.
func (s *service) removeAuthenticator(c *call, b challengeBody, _ netip.Addr) (answer, error) {
	return reply(map[string]any{"account": b.Account, "removed": true}, s.Challenges.Remove(c.Request.Context(), b.Account))
}

type testMailBody struct {
	To string `json:"to"`
}

// sendTestMail shows whether mails arrive.
func (s *service) sendTestMail(c *call, body testMailBody) (answer, error) {
	if body.To == "" {
		return answer{}, errata.Errorf(errata.KindInvalidRecipient, "to is the mail address that the test mail goes to.")
	}
	return reply(map[string]any{"sent": true}, s.Challenges.SendTestMail(c.Request.Context(), body.To))
}
