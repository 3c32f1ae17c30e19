package api

import (
	"context"
	"net/http"
	"net/netip"
	"time"
	"unicode/utf8"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/signin"
)

// Challenges sends one-time codes, and knows those and the codes of
// authenticator apps. A method that is turned off works for nobody from that
// moment on. Errors of all: log_unavailable; of all that takes a code or makes
// one: rate_limited.
type Challenges interface {
	// Send makes a code and sends it. Errors: invalid_method, method_off,
	// mail_module_required, invalid_recipient, mail_refused, mail_unavailable.
	Send(ctx context.Context, n NewChallenge) (SentChallenge, error)
	// Verify checks the answer to a challenge. Errors: method_off and, where mail
	// is no longer configured, mail_module_required.
	Verify(ctx context.Context, id string, given GivenCode) (CodeVerdict, error)
	// Enrol draws the secret of an account's authenticator app; label is the
	// name that the app shows. Errors: method_off, already_enrolled.
	Enrol(ctx context.Context, account, label string) (Authenticator, error)
	// Confirm takes the first code of an app, and with it the app. Errors:
	// method_off.
	Confirm(ctx context.Context, given GivenCode) (CodeVerdict, error)
	// VerifyApp checks a code of a confirmed app. Errors: method_off.
	VerifyApp(ctx context.Context, given GivenCode) (CodeVerdict, error)
	// Remove forgets an account's app.
	Remove(ctx context.Context, account string) error
	// SendTestMail sends a mail that says that mails arrive. Errors: as Send.
	SendTestMail(ctx context.Context, to string) error
}

// NewChallenge is a code to send.
type NewChallenge struct {
	Side    signin.Side
	Account string
	// Purpose is the check that the code is for.
	Purpose signin.Kind
	// Method is the key of the method that sends it, To where it goes.
	Method, To string
	// Address is where the sign-in comes from, the zero Addr when nobody says.
	Address netip.Addr
}

// SentChallenge is a code that was sent.
type SentChallenge struct {
	ID, Method string
	Expires    time.Time
}

// GivenCode is what somebody typed.
type GivenCode struct {
	Account string
	// Purpose is empty for authenticator apps.
	Purpose signin.Kind
	Code    string
	Address netip.Addr
}

// CodeVerdict is what came of a code.
type CodeVerdict struct {
	Verified bool
	// TriesLeft is how many more tries there are; not used for apps.
	TriesLeft int
	// Outcome is one word, such as wrong, expired or used.
	Outcome string
}

// Authenticator is what an app needs. It is shown once.
type Authenticator struct {
	Secret string `json:"secret"` // base32
	URL    string `json:"url"`    // otpauth://, for a QR code
}

// challengeBody is the body of all routes below sign-in; each reads its part.
type challengeBody struct {
	Side    signin.Side `json:"side"`
	Account string      `json:"account"`
	Method  string      `json:"method"`
	To      string      `json:"to"`
	Purpose signin.Kind `json:"purpose"`
	Code    string      `json:"code"`
	Label   string      `json:"label"`
	Address string      `json:"address"`
}

const (
	// maxCode is far above what a person types for six digits, with blanks.
	maxCode = 64
)

// bindChallenge reads the body and checks what all routes have.
func (c *call) bindChallenge() (b challengeBody, from netip.Addr, err error) {
	if err := c.bind(&b); err != nil {
		return b, from, err
	}
	if b.Account == "" || utf8.RuneCountInString(b.Account) > maxAccount || utf8.RuneCountInString(b.Label) > maxAccount {
		return b, from, errata.Errorf(errata.KindInvalidAccount, "account names who signs in, and label what an app shows, in at most %d characters.", maxAccount)
	}
	if b.Purpose == "" {
		b.Purpose = signin.CheckTwoFactor
	}
	switch b.Purpose {
	case signin.CheckTwoFactor, signin.CheckLocation, signin.CheckAddress:
	default:
		return b, from, errata.Errorf(errata.KindInvalidPurpose, "purpose is %s, %s or %s.", signin.CheckTwoFactor, signin.CheckLocation, signin.CheckAddress)
	}
	if b.Address != "" {
		if from, err = netip.ParseAddr(b.Address); err != nil {
			return b, from, errata.Errorf(errata.KindInvalidIP, "address is where the sign-in comes from, like 203.0.113.9 or 2001:db8::1.")
		}
	}
	if len(b.Code) > maxCode {
		b.Code = "" // malformed, however long it is
	}
	return b, from, nil
}

// sendChallenge sends a one-time code.
func (s *service) sendChallenge(c *call) (answer, error) {
	b, from, err := c.bindChallenge()
	if err != nil {
		return answer{}, err
	}
	if b.Side != signin.Admin && b.Side != signin.Client {
		return answer{}, errata.Errorf(errata.KindInvalidSide, "side is %s or %s.", signin.Admin, signin.Client)
	}
	sent, err := s.Challenges.Send(c.Request.Context(), NewChallenge{
		Side: b.Side, Account: b.Account, Purpose: b.Purpose, Method: b.Method, To: b.To, Address: from,
	})
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusCreated, data: map[string]any{
		"id": sent.ID, "method": sent.Method, "expires_at": errata.Instant(sent.Expires),
	}}, nil
}

// verifyChallenge checks the answer to one.
func (s *service) verifyChallenge(c *call) (answer, error) {
	b, from, err := c.bindChallenge()
	if err != nil {
		return answer{}, err
	}
	verdict, err := s.Challenges.Verify(c.Request.Context(), c.Param("id"), GivenCode{
		Account: b.Account, Purpose: b.Purpose, Code: b.Code, Address: from,
	})
	if err != nil {
		return answer{}, err
	}
	return answer{data: map[string]any{
		"verified": verdict.Verified, "tries_left": verdict.TriesLeft, "outcome": verdict.Outcome,
	}}, nil
}

// enrolAuthenticator shows the secret of a new app.
func (s *service) enrolAuthenticator(c *call) (answer, error) {
	b, _, err := c.bindChallenge()
	if err != nil {
		return answer{}, err
	}
	if b.Label == "" {
		b.Label = b.Account
	}
	app, err := s.Challenges.Enrol(c.Request.Context(), b.Account, b.Label)
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusCreated, data: app}, nil
}

// confirmAuthenticator takes an app's first code.
func (s *service) confirmAuthenticator(c *call) (answer, error) {
	return c.askAuthenticator(s.Challenges.Confirm)
}

// verifyAuthenticator takes a code of an app that is set up.
func (s *service) verifyAuthenticator(c *call) (answer, error) {
	return c.askAuthenticator(s.Challenges.VerifyApp)
}

func (c *call) askAuthenticator(ask func(context.Context, GivenCode) (CodeVerdict, error)) (answer, error) {
	b, from, err := c.bindChallenge()
	if err != nil {
		return answer{}, err
	}
	verdict, err := ask(c.Request.Context(), GivenCode{Account: b.Account, Code: b.Code, Address: from})
	if err != nil {
		return answer{}, err
	}
	return answer{data: map[string]any{"verified": verdict.Verified, "outcome": verdict.Outcome}}, nil
}

// removeAuthenticator forgets an app, also one that was never confirmed.
func (s *service) removeAuthenticator(c *call) (answer, error) {
	b, _, err := c.bindChallenge()
	if err != nil {
		return answer{}, err
	}
	if err := s.Challenges.Remove(c.Request.Context(), b.Account); err != nil {
		return answer{}, err
	}
	return answer{data: map[string]any{"account": b.Account, "removed": true}}, nil
}

// sendTestMail shows whether mails arrive.
func (s *service) sendTestMail(c *call) (answer, error) {
	var body struct {
		To string `json:"to"`
	}
	if err := c.bind(&body); err != nil {
		return answer{}, err
	}
	if body.To == "" {
		return answer{}, errata.Errorf(errata.KindInvalidRecipient, "to is the mail address that the test mail goes to.")
	}
	if err := s.Challenges.SendTestMail(c.Request.Context(), body.To); err != nil {
		return answer{}, err
	}
	return answer{data: map[string]any{"sent": true}}, nil
}
