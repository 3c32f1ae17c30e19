package service

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"text/template"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/signin/challenge"
	"github.com/errata-log/errata/signin/smtp"
)

// codeSubject does not have the code: locked screens show subjects.
const codeSubject = "Your sign-in code for " + name

//go:embed code.txt
var codeText string

var codeMail = template.Must(template.New("code").Parse(codeText))

// mailRetry is what callers are told to wait when the mail server is away;
// most restart within it.
const mailRetry = 30 * time.Second

// SendTestMail sends a mail that says that mails arrive. Errors:
// mail_module_required, invalid_recipient, mail_refused, mail_unavailable.
func (s *Service) SendTestMail(ctx context.Context, to string) error {
	if err := s.mayMail(to); err != nil {
		return err
	}
	return mailError(s.cfg.Mail.Send(ctx, to, name+": test mail",
		"This is a test of the mail settings of "+name+".\n\nIt has arrived, so sign-in codes can be sent to this address.\n"))
}

// mayMail returns an error when no mail can be sent to the address.
func (s *Service) mayMail(to string) error {
	if s.cfg.Mail == nil {
		return errMailRequired
	}
	if !smtp.Deliverable(to) {
		return errata.Errorf(errata.KindInvalidRecipient, "to is one plain mail address, like ann@example.org.")
	}
	return nil
}

func (s *Service) mailCode(ctx context.Context, to, code string) error {
	var text strings.Builder
	err := codeMail.Execute(&text, struct {
		Service, Code string
		Minutes       int
	}{name, code, int(challenge.CodeLife / time.Minute)})
	if err != nil {
		return fmt.Errorf("write the mail with the code: %w", err)
	}
	return mailError(s.cfg.Mail.Send(ctx, to, codeSubject, text.String()))
}

var errMailRequired = errata.Errorf(errata.KindMailModuleRequired, "No mail module is configured; set mail-module and where to send.")

// mailError is what callers are told when a mail was not accepted. Its cause
// has neither the password nor the recipient.
func mailError(err error) error {
	var failure *smtp.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return err // nobody is there to be told
	case errors.As(err, &failure) && failure.Code >= 550 && failure.Code <= 559:
		return errata.Errorf(errata.KindMailRefused, "The mail server takes no mail for this address; see that it is right.").Because(err)
	}
	return &errata.Error{
		Kind: errata.KindMailUnavailable, RetryAfter: mailRetry, Err: err,
		Message: "The mail with the code could not be sent; try again shortly. The operator finds the cause in the log.",
	}
}
