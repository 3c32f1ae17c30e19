package service

import (
	"context"
	"errors"
	"strings"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/signin/smtp"
	"github.com/errata-log/errata/test/smtptest"
)

func TestTestMail(t *testing.T) {
	server := smtptest.New(t, nil)
	sender, err := smtp.New(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	s := &Service{cfg: Config{Mail: sender}}
	if err := s.SendTestMail(t.Context(), "ann@example.org"); err != nil {
		t.Fatal(err)
	}
	if subject, text, _ := smtptest.Parse(t, server.Arrived()[0].Data); !strings.Contains(subject, "test") || !strings.Contains(text, "arrived") {
		t.Errorf("subject %q, text %q", subject, text)
	}
	for _, c := range []struct {
		service *Service
		to      string
		want    errata.Kind
	}{
		{&Service{}, "ann@example.org", errata.KindMailModuleRequired},
		{s, "ann@example.org,eve@example.org", errata.KindInvalidRecipient},
	} {
		if err := c.service.SendTestMail(t.Context(), c.to); errata.KindOf(err) != c.want {
			t.Errorf("to %s: %v, want %s", c.to, err, c.want)
		}
	}
}

// TestMailErrors: callers can only mend a refused recipient, and a caller that
// is gone gets no answer.
func TestMailErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		want errata.Kind
	}{
		{&smtp.Error{Code: 550}, errata.KindMailRefused},
		{&smtp.Error{Code: 559}, errata.KindMailRefused},
		{&smtp.Error{Code: 535}, errata.KindMailUnavailable}, // the password of the service is wrong
		{&smtp.Error{Code: 451}, errata.KindMailUnavailable},
		{&smtp.Error{}, errata.KindMailUnavailable},
		{context.DeadlineExceeded, errata.KindMailUnavailable},
	} {
		if got := mailError(c.err); errata.KindOf(got) != c.want || !errors.Is(got, c.err) {
			t.Errorf("%v: %v, want %s", c.err, got, c.want)
		}
	}
	if err := mailError(context.Canceled); err != context.Canceled {
		t.Errorf("a caller who has gone: %v", err)
	}
	if err := mailError(nil); err != nil {
		t.Errorf("a mail that was taken: %v", err)
	}
}
