package challenge

import (
	"context"
	"errors"
	"fmt"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/bucket"
)

// App is what an authenticator app needs, shown once.
type App struct {
	// Secret is the key in base32, for typing it in.
	Secret string `json:"secret"`
	// URL is the same as otpauth://, for a QR code.
	URL string `json:"url"`
}

// String leaves the secret out, for logs.
func (a App) String() string { return "the secret of an authenticator app" }

// Enrol draws the secret for an account's app; label is the name that the app
// shows, such as the mail address. The app passes nothing before
// [Checker.Confirm]. A secret that was never confirmed is replaced. Errors:
// already_enrolled when the account has a confirmed app, which must be removed
// first: otherwise anybody with an open session could replace it.
func (c *Checker) Enrol(ctx context.Context, account, label string) (App, error) {
	if err := named(account, label); err != nil {
		return App{}, err
	}
	var app App
	err := change(ctx, c.cfg.Enrolments, c.appKey(account), func(have Enrolment, found bool) (Enrolment, bool, error) {
		if found && have.Confirmed {
			return have, false, errata.Errorf(errata.KindAlreadyEnrolled, "The account has an authenticator app already; remove it before you set up another one.")
		}
		e, secret, url, err := c.cfg.Secret.NewEnrolment(c.cfg.Random, account, c.cfg.Issuer, label, c.cfg.Now())
		app = App{Secret: secret, URL: url}
		return e, true, err
	})
	if err != nil {
		return App{}, err
	}
	return app, nil
}

// Confirm checks the first code of an app that was enrolled within the last
// hour, and confirms the app when it is right. The outcome for an app that is
// confirmed already is Unknown.
func (c *Checker) Confirm(ctx context.Context, a Answer) (Verdict, error) {
	return c.askApp(ctx, a, false)
}

// VerifyApp checks a code of an account's confirmed app. Each code is good once.
func (c *Checker) VerifyApp(ctx context.Context, a Answer) (Verdict, error) {
	return c.askApp(ctx, a, true)
}

// askApp checks a code of an app; confirmed says which state the app must have.
func (c *Checker) askApp(ctx context.Context, a Answer, confirmed bool) (Verdict, error) {
	if err := c.take(ctx, "try-address", TryAddress, origin(a.Address)); err != nil {
		return Verdict{}, err
	}
	before, found, err := c.enrolment(ctx, a.Account)
	switch _, wellFormed := normalize(a.Code); {
	case err != nil:
		return Verdict{}, err
	case !found || confirmed && !before.Confirmed:
		return Verdict{Outcome: NotEnrolled}, nil
	case !confirmed && before.Confirmed:
		return Verdict{Outcome: Unknown}, nil
	case !wellFormed:
		return Verdict{Outcome: Malformed}, nil
	}
	if err := c.take(ctx, "try-account", TryAccount, a.Account); err != nil {
		return Verdict{}, err
	}
	var outcome Outcome
	err = change(ctx, c.cfg.Enrolments, c.appKey(a.Account), func(state Enrolment, found bool) (Enrolment, bool, error) {
		if !found || state.Confirmed != confirmed {
			outcome = NotEnrolled // removed, replaced or confirmed a moment ago
			return state, false, nil
		}
		next, got, err := c.cfg.Secret.VerifyApp(state, a.Account, a.Code, c.cfg.Now())
		outcome = got
		return next, got == Passed, err
	})
	if err != nil {
		return Verdict{}, fmt.Errorf("check an app's code: %w", err)
	}
	c.giveBack(ctx, outcome, a)
	return Verdict{Outcome: outcome, Verified: outcome == Passed}, nil
}

// Remove forgets an account's app, confirmed or not.
func (c *Checker) Remove(ctx context.Context, account string) error {
	if err := c.cfg.Enrolments.Delete(ctx, c.appKey(account)); err != nil {
		return unavailable("remove", err)
	}
	return nil
}

func (c *Checker) enrolment(ctx context.Context, account string) (e Enrolment, found bool, err error) {
	e, _, err = get[Enrolment](ctx, c.cfg.Enrolments, c.appKey(account))
	if errors.Is(err, bucket.ErrNotFound) {
		return e, false, nil
	}
	return e, err == nil, err
}

func (c *Checker) appKey(account string) string { return appKey + c.cfg.Secret.nameOf("app", account) }
