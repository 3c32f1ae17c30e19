package service

import (
	"context"
	"slices"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/signin"
	"github.com/errata-log/errata/signin/challenge"
)

// Send makes a code and mails it. A code whose mail was not sent is known to
// nobody and expires. Errors: invalid_method, method_off, mail_module_required,
// invalid_recipient, mail_refused, mail_unavailable, rate_limited,
// log_unavailable.
func (s *Service) Send(ctx context.Context, r signin.CodeRequest) (signin.SentCode, error) {
	method, err := s.usable(ctx, strings.ToLower(r.Method), r.Purpose)
	if err != nil {
		return signin.SentCode{}, err
	}
	if !method.CanSendCode {
		return signin.SentCode{}, errata.Errorf(errata.KindInvalidMethod, "The method %s cannot send a code.", method.Key)
	}
	if err := s.mayMail(r.To); err != nil {
		return signin.SentCode{}, err
	}
	issued, err := s.checker.Issue(ctx, r.Account, string(r.Purpose), r.Address)
	if err != nil {
		return signin.SentCode{}, err
	}
	if err := s.mailCode(ctx, r.To, issued.Code); err != nil {
		return signin.SentCode{}, err
	}
	return signin.SentCode{ID: issued.ID, Method: method.Key, Expires: issued.Expires}, nil
}

// Verify checks the answer to a code that was mailed. Errors: method_off,
// mail_module_required where mail is no longer configured, rate_limited,
// log_unavailable.
func (s *Service) Verify(ctx context.Context, a challenge.Answer) (challenge.Verdict, error) {
	if _, err := s.usable(ctx, signin.KeyEmail, signin.Kind(a.Purpose)); err != nil {
		return challenge.Verdict{}, err
	}
	return s.checker.Verify(ctx, a)
}

// Enrol draws the secret of an account's authenticator app; label is the name
// that the app shows. Errors: method_off, already_enrolled, log_unavailable.
func (s *Service) Enrol(ctx context.Context, account, label string) (challenge.App, error) {
	if _, err := s.usable(ctx, signin.KeyTOTP, signin.CheckTwoFactor); err != nil {
		return challenge.App{}, err
	}
	return s.checker.Enrol(ctx, account, label)
}

// Confirm takes the first code of an app, and with it the app. Errors:
// method_off, rate_limited, log_unavailable.
func (s *Service) Confirm(ctx context.Context, a challenge.Answer) (challenge.Verdict, error) {
	if _, err := s.usable(ctx, signin.KeyTOTP, signin.CheckTwoFactor); err != nil {
		return challenge.Verdict{}, err
	}
	return s.checker.Confirm(ctx, a)
}

// VerifyApp checks a code of a confirmed app. Errors: as Confirm.
func (s *Service) VerifyApp(ctx context.Context, a challenge.Answer) (challenge.Verdict, error) {
	if _, err := s.usable(ctx, signin.KeyTOTP, signin.CheckTwoFactor); err != nil {
		return challenge.Verdict{}, err
	}
	return s.checker.VerifyApp(ctx, a)
}

// Remove forgets an account's app, whether or not the method is on. Errors:
// log_unavailable.
func (s *Service) Remove(ctx context.Context, account string) error {
	return s.checker.Remove(ctx, account)
}

// usable finds a method that is installed and, for the second step, on. It asks
// the log and not the snapshot: a method that was turned off must stop working
// on every node as soon as that is confirmed. The checks of places and
// addresses have settings of their own, and send by any installed method.
func (s *Service) usable(ctx context.Context, key string, purpose signin.Kind) (signin.Method, error) {
	method, installed := s.Modules.Method(key)
	switch {
	case !installed && key == signin.KeyEmail:
		return method, errMailRequired
	case !installed:
		return method, errata.Errorf(errata.KindInvalidMethod, "There is no such method; GET settings/security/two-factor/methods lists those there are.")
	case purpose != signin.CheckTwoFactor:
		return method, nil
	}
	setting, err := s.Settings.ReadTwoFactor(ctx)
	if err == nil && !slices.Contains(setting.Authentications, key) {
		err = errata.Errorf(errata.KindMethodOff, "The method %s is turned off in the settings of the second step.", key)
	}
	return method, err
}
