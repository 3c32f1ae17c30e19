package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/signin"
	"github.com/errata-log/errata/signin/challenge"
	"github.com/errata-log/errata/signin/smtp"
)

// keyTOTP is the method of authenticator apps.
const keyTOTP = "totp"

// challenges are one-time codes and authenticator apps as the API sees them.
type challenges struct {
	checker  *challenge.Checker
	mail     *smtp.Sender // nil: no mail module is configured
	settings securitySettings
}

var _ api.Challenges = challenges{}

func (a *App) openChallenges(ctx context.Context) error {
	secret, err := challenge.LoadSecret(a.dir.Path())
	if err != nil {
		return err
	}
	cfg := challenge.Config{Secret: secret, Issuer: serviceName, Now: a.options.Now}
	for _, bucket := range []struct {
		name string
		to   *challenge.Store
	}{
		{migrations.ChallengesBucket(a.options.Namespace), &cfg.Challenges},
		{migrations.EnrolmentsBucket(a.options.Namespace), &cfg.Enrolments},
	} {
		kv, err := a.engines.JetStream().KeyValue(ctx, bucket.name)
		if err != nil {
			return fmt.Errorf("open the bucket %s: %w", bucket.name, err)
		}
		*bucket.to = challenge.KV(kv)
	}
	checker, err := challenge.Open(ctx, cfg)
	if err != nil {
		return err
	}
	a.challenges = challenges{checker, a.mail, securitySettings{a.settings, a.modules}}
	return nil
}

// Send makes a code and mails it. A code whose mail did not go out stays
// unknown to everybody and expires.
func (c challenges) Send(ctx context.Context, n api.NewChallenge) (api.SentChallenge, error) {
	method, err := c.usable(ctx, strings.ToLower(n.Method), n.Purpose)
	if err != nil {
		return api.SentChallenge{}, err
	}
	if !method.CanSendCode {
		return api.SentChallenge{}, errata.Errorf(errata.KindInvalidMethod, "The method %s cannot send a code.", method.Key)
	}
	if c.mail == nil {
		return api.SentChallenge{}, mailRequired()
	}
	if err := addressed(n.To); err != nil {
		return api.SentChallenge{}, err
	}
	issued, err := c.checker.Issue(ctx, n.Account, string(n.Purpose), n.Address)
	if err != nil {
		return api.SentChallenge{}, err
	}
	text, err := composeCode(issued.Code)
	if err != nil {
		return api.SentChallenge{}, err
	}
	if err := mailError(c.mail.Send(ctx, n.To, codeSubject, text)); err != nil {
		return api.SentChallenge{}, err
	}
	return api.SentChallenge{ID: issued.ID, Method: method.Key, Expires: issued.Expires}, nil
}

// Verify checks the answer to a challenge. Only the mail sends codes.
func (c challenges) Verify(ctx context.Context, id string, given api.GivenCode) (api.CodeVerdict, error) {
	if _, err := c.usable(ctx, signin.KeyEmail, given.Purpose); err != nil {
		return api.CodeVerdict{}, err
	}
	return codeVerdict(c.checker.Verify(ctx, challenge.Answer{
		ID: id, Account: given.Account, Purpose: string(given.Purpose), Code: given.Code, Address: given.Address,
	}))
}

// Enrol draws the secret of an app.
func (c challenges) Enrol(ctx context.Context, account, label string) (api.Authenticator, error) {
	if _, err := c.usable(ctx, keyTOTP, signin.CheckTwoFactor); err != nil {
		return api.Authenticator{}, err
	}
	app, err := c.checker.Enrol(ctx, account, label)
	if errors.Is(err, challenge.ErrEnrolled) {
		return api.Authenticator{}, errata.Errorf(errata.KindAlreadyEnrolled, "The account has an authenticator app already; remove it before you set up another one.")
	}
	return api.Authenticator{Secret: app.Secret, URL: app.URL}, err
}

// Confirm takes the first code of an app.
func (c challenges) Confirm(ctx context.Context, given api.GivenCode) (api.CodeVerdict, error) {
	if _, err := c.usable(ctx, keyTOTP, signin.CheckTwoFactor); err != nil {
		return api.CodeVerdict{}, err
	}
	return codeVerdict(c.checker.Confirm(ctx, given.Account, given.Code, given.Address))
}

// VerifyApp checks a code of a confirmed app.
func (c challenges) VerifyApp(ctx context.Context, given api.GivenCode) (api.CodeVerdict, error) {
	if _, err := c.usable(ctx, keyTOTP, signin.CheckTwoFactor); err != nil {
		return api.CodeVerdict{}, err
	}
	return codeVerdict(c.checker.VerifyApp(ctx, given.Account, given.Code, given.Address))
}

// Remove forgets an app, whether or not the method is on.
func (c challenges) Remove(ctx context.Context, account string) error {
	return c.checker.Remove(ctx, account)
}

// SendTestMail sends a mail without a code.
func (c challenges) SendTestMail(ctx context.Context, to string) error {
	if c.mail == nil {
		return mailRequired()
	}
	if err := addressed(to); err != nil {
		return err
	}
	return mailError(c.mail.Test(ctx, to))
}

// usable finds a method that is installed and, for the second step, on. It
// asks the log and not the snapshot: a method that was turned off must not
// work on any node from the moment on that this was answered. The checks of
// places and addresses have settings of their own, and send by any method that
// is installed.
func (c challenges) usable(ctx context.Context, key string, purpose signin.Kind) (signin.Method, error) {
	method, installed := c.settings.Modules().Method(key)
	switch {
	case !installed && key == signin.KeyEmail:
		return method, mailRequired()
	case !installed:
		return method, errata.Errorf(errata.KindInvalidMethod, "There is no such method; GET settings/security/two-factor/methods lists those there are.")
	case purpose != signin.CheckTwoFactor:
		return method, nil
	}
	setting, err := c.settings.ReadTwoFactor(ctx)
	if err != nil {
		return method, err
	}
	if !slices.Contains(setting.Authentications, key) {
		return method, errata.Errorf(errata.KindMethodOff, "The method %s is turned off in the settings of the second step.", key)
	}
	return method, nil
}

func mailRequired() error {
	return errata.Errorf(errata.KindMailModuleRequired, "No mail module is configured; set mail-module and where to send.")
}

func codeVerdict(v challenge.Verdict, err error) (api.CodeVerdict, error) {
	if err != nil {
		return api.CodeVerdict{}, err
	}
	return api.CodeVerdict{Verified: v.Outcome == challenge.Passed, TriesLeft: v.Left, Outcome: string(v.Outcome)}, nil
}
