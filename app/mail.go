package app

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

// mailSMTP is the mail module that there is.
const mailSMTP = "smtp"

// serviceName is what people are told that they sign in to.
const serviceName = "Errata"

// codeSubject does not hold the code: subjects are shown on locked screens.
const codeSubject = "Your sign-in code for " + serviceName

//go:embed mail/code.txt
var codeText string

var codeMail = template.Must(template.New("code").Parse(codeText))

// mailRetry is what callers are told to wait when the mail server is away;
// most restart within it.
const mailRetry = 30 * time.Second

// smtpConfig is what the mail module is told.
func (o Options) smtpConfig() smtp.Config {
	return smtp.Config{
		Host: o.SMTPHost, Port: o.SMTPPort, TLS: smtp.TLS(o.SMTPTLS),
		Username: o.SMTPUsername, Password: o.SMTPPassword, From: o.SMTPFrom,
	}
}

// validateMail names the wrong setting of the mail module. Those of a module
// that is not chosen may be anything.
func (o Options) validateMail() error {
	switch o.MailModule {
	case "":
		return nil
	case mailSMTP:
	default:
		return fmt.Errorf("mail-module: %q is none of: %s, or nothing for none", o.MailModule, mailSMTP)
	}
	err := o.smtpConfig().Validate()
	if field, ok := errors.AsType[*smtp.FieldError](err); ok {
		return fmt.Errorf("smtp-%s: %s", strings.ToLower(field.Field), field.Problem)
	}
	return err
}

func (a *App) openMail(context.Context) (err error) {
	if a.options.MailModule == "" {
		return nil
	}
	if a.mail, err = smtp.New(a.options.smtpConfig()); err != nil {
		return err
	}
	a.options.MailConfigured = true
	return nil
}

// CheckMail greets the configured mail server, without logging in. server is
// "" when no mail module is configured.
func CheckMail(ctx context.Context, o Options) (server string, err error) {
	if o.MailModule == "" {
		return "", nil
	}
	sender, err := smtp.New(o.smtpConfig())
	if err != nil {
		return "", err
	}
	return sender.Server(), sender.Reach(ctx)
}

// composeCode is the text of the mail with a code.
func composeCode(code string) (string, error) {
	var text strings.Builder
	err := codeMail.Execute(&text, struct {
		Service, Code string
		Minutes       int
	}{serviceName, code, int(challenge.CodeLife / time.Minute)})
	if err != nil {
		return "", fmt.Errorf("write the mail with the code: %w", err)
	}
	return text.String(), nil
}

// addressed refuses what no mail can be sent to, before anything is done.
func addressed(to string) error {
	if !smtp.Deliverable(to) {
		return errata.Errorf(errata.KindInvalidRecipient, "to is one plain mail address, like ann@example.org.")
	}
	return nil
}

// mailError is what callers are told when a mail was not taken. The cause
// holds neither the password nor the recipient.
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
