package smtp_test

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/errata-log/errata/signin/smtp"
	"github.com/errata-log/errata/test/smtptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const recipient = "ann@example.org"

func newSender(t *testing.T, cfg smtp.Config) *smtp.Sender {
	t.Helper()
	sender, err := smtp.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return sender
}

func TestSendInEachMode(t *testing.T) {
	for name, test := range map[string]struct {
		server func(*smtptest.Server)
		config func(*smtp.Config)
		secure bool
		login  string
	}{
		"STARTTLS and a login": {nil, func(*smtp.Config) {}, true, "errata"},
		"STARTTLS, no login":   {nil, func(c *smtp.Config) { c.Username, c.Password = "", "" }, true, ""},
		"TLS and a login":      {func(s *smtptest.Server) { s.Implicit = true }, func(c *smtp.Config) { c.TLS = smtp.ImplicitTLS }, true, "errata"},
		"none and a login":     {nil, func(c *smtp.Config) { c.TLS = smtp.NoTLS }, false, "errata"},
		"none, no login": {func(s *smtptest.Server) { s.Extensions = nil },
			func(c *smtp.Config) { c.TLS, c.Username, c.Password = smtp.NoTLS, "", "" }, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := smtptest.New(t, test.server)
			cfg := s.Config()
			test.config(&cfg)
			const wantSubject, wantText = "Ihr Anmelde-Code für Errata – 日本", "Code: 012345\n\n.a line that begins with a dot\nGrüße"
			if err := newSender(t, cfg).Send(t.Context(), recipient, wantSubject, wantText); err != nil {
				t.Fatal(err)
			}
			mails := s.Arrived()
			if len(mails) != 1 {
				t.Fatalf("%d mails arrived, want 1", len(mails))
			}
			got := mails[0]
			if got.Secure != test.secure || got.Login != test.login {
				t.Errorf("secure %t, login %q, want %t, %q", got.Secure, got.Login, test.secure, test.login)
			}
			if !strings.HasPrefix(got.From, "FROM:<errata@example.com>") || got.To != "TO:<"+recipient+">" {
				t.Errorf("envelope %s %s", got.From, got.To)
			}
			subject, text, header := smtptest.Parse(t, got.Data)
			if subject != wantSubject || strings.ReplaceAll(text, "\r\n", "\n") != wantText {
				t.Errorf("subject %q, text %q", subject, text)
			}
			if header.Get("To") != "<"+recipient+">" || header.Get("Auto-Submitted") != "auto-generated" ||
				!strings.HasSuffix(header.Get("Message-ID"), "@example.com>") || header.Get("Date") == "" {
				t.Errorf("header %v", header)
			}
		})
	}
}

// A password is never sent over an unprotected connection, whatever the server
// offers.
func TestNothingIsSentInTheClear(t *testing.T) {
	for name, test := range map[string]struct {
		server func(*smtptest.Server)
		config func(*smtp.Config)
	}{
		"no STARTTLS offered":        {func(s *smtptest.Server) { s.Extensions = []string{"AUTH PLAIN"} }, func(*smtp.Config) {}},
		"a certificate of strangers": {nil, func(c *smtp.Config) { c.RootCAs = nil }},
		"a certificate of strangers, TLS": {func(s *smtptest.Server) { s.Implicit = true },
			func(c *smtp.Config) { c.RootCAs, c.TLS = nil, smtp.ImplicitTLS }},
	} {
		t.Run(name, func(t *testing.T) {
			s := smtptest.New(t, test.server)
			cfg := s.Config()
			test.config(&cfg)
			err := newSender(t, cfg).Send(t.Context(), recipient, "code", "text")
			if err == nil || smtp.Retriable(err) {
				t.Errorf("error %v, want one that another try does not mend", err)
			}
			if heard := s.Heard(); strings.Contains(heard, "AUTH") || strings.Contains(heard, "MAIL") {
				t.Errorf("the server heard %s", heard)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	on := func(prefix, reply string) func(string) string {
		return func(command string) string {
			if strings.HasPrefix(command, prefix) && (prefix != "" || command == "") {
				return reply
			}
			return ""
		}
	}
	for name, test := range map[string]struct {
		answer    func(string) string
		retriable bool
		code      int
	}{
		"greeting, for now":   {on("", "421 too busy"), true, 421},
		"greeting, for good":  {on("", "554 no service"), false, 554},
		"greeting, hangs up":  {on("", smtptest.HangUp), true, 0},
		"greeting, no SMTP":   {on("", "HTTP/1.1 400 Bad Request"), false, 0},
		"EHLO, hangs up":      {on("EHLO", smtptest.HangUp), true, 0},
		"STARTTLS, refused":   {on("STARTTLS", "454 not now"), true, 454},
		"login, for now":      {on("AUTH", "454 the directory is away"), true, 454},
		"login, hangs up":     {on("AUTH", smtptest.HangUp), true, 0},
		"sender, for good":    {on("MAIL", "553 not your address"), false, 553},
		"recipient, for now":  {on("RCPT", "451 greylisted, ann@example.org"), true, 451},
		"recipient, for good": {on("RCPT", "550 no ann@example.org here"), false, 550},
		"recipient, hangs up": {on("RCPT", smtptest.HangUp), true, 0},
		"data, for good":      {on("DATA", "554 no"), false, 554},
		"data, hangs up":      {on("DATA", smtptest.HangUp), true, 0},
		"text, for good":      {on("end of data", "554 spam"), false, 554},
		"text, for now":       {on("end of data", "452 full"), true, 452},
		"text, hangs up":      {on("end of data", smtptest.HangUp), true, 0},
		"a reply of 100 KB":   {on("MAIL", "550 "+strings.Repeat("x", 100_000)), false, 550},
		"a reply without end": {on("MAIL", smtptest.Endless), false, 550},
	} {
		t.Run(name, func(t *testing.T) {
			s := smtptest.New(t, func(s *smtptest.Server) { s.Answer = test.answer })
			err := newSender(t, s.Config()).Send(t.Context(), recipient, "code", "text")
			var e *smtp.Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v, want an *smtp.Error", err)
			}
			if e.Retriable != test.retriable || e.Code != test.code {
				t.Errorf("retriable %t, code %d, want %t, %d: %v", e.Retriable, e.Code, test.retriable, test.code, err)
			}
			if text := err.Error(); strings.Contains(text, recipient) || len(text) > 500 || strings.ContainsAny(text, "\r\n") {
				t.Errorf("error %q of %d bytes", text, len(text))
			}
			if errors.Is(err, context.DeadlineExceeded) {
				t.Error("it took all the time there is")
			}
			if len(s.Arrived()) != 0 {
				t.Error("a mail arrived all the same")
			}
		})
	}
}

// A server that fails after it has accepted the mail has accepted it.
func TestQuitDoesNotMatter(t *testing.T) {
	for _, reply := range []string{smtptest.HangUp, "500 what?"} {
		s := smtptest.New(t, func(s *smtptest.Server) {
			s.Answer = func(command string) string {
				if command == "QUIT" {
					return reply
				}
				return ""
			}
		})
		if err := newSender(t, s.Config()).Send(t.Context(), recipient, "code", "text"); err != nil || len(s.Arrived()) != 1 {
			t.Errorf("with %q after QUIT: error %v, %d mails", reply, err, len(s.Arrived()))
		}
	}
}

func TestWrongPasswordIsNotRepeated(t *testing.T) {
	const password = "wrong pässword"
	s := smtptest.New(t, nil)
	cfg := s.Config()
	cfg.Password = password
	err := newSender(t, cfg).Send(t.Context(), recipient, "code", "text")
	var e *smtp.Error
	if !errors.As(err, &e) || e.Code != 535 || e.Retriable {
		t.Fatalf("error %v, want a final 535", err)
	}
	for unwrapped := err; unwrapped != nil; unwrapped = errors.Unwrap(unwrapped) {
		for _, secret := range []string{password, base64.StdEncoding.EncodeToString([]byte("\x00errata\x00" + password))} {
			if strings.Contains(unwrapped.Error(), secret) {
				t.Errorf("the error holds the password: %v", unwrapped)
			}
		}
	}
}

// The sender gives up on a server that stops answering, at any point.
func TestSilentServers(t *testing.T) {
	for _, at := range []string{"", "EHLO", "STARTTLS", "AUTH", "MAIL", "DATA", "end of data"} {
		t.Run("silent at "+at, func(t *testing.T) {
			t.Parallel()
			s := smtptest.New(t, func(s *smtptest.Server) {
				s.Answer = func(command string) string {
					if command == at || at != "" && strings.HasPrefix(command, at) {
						return smtptest.Silence
					}
					return ""
				}
			})
			cfg := s.Config()
			cfg.Timeout = 500 * time.Millisecond
			began := time.Now()
			err := newSender(t, cfg).Send(t.Context(), recipient, "code", "text")
			if !smtp.Retriable(err) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want a retriable one that time ran out", err)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("gave up after %s, want half a second", took)
			}
		})
	}
}

func TestCallerGivesUp(t *testing.T) {
	reached := make(chan struct{})
	s := smtptest.New(t, func(s *smtptest.Server) {
		s.Answer = func(command string) string {
			if strings.HasPrefix(command, "MAIL") {
				close(reached)
				return smtptest.Silence
			}
			return ""
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-reached
		cancel()
	}()
	err := newSender(t, s.Config()).Send(ctx, recipient, "code", "text")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that the caller gave up", err)
	}
}

func TestNobodyThere(t *testing.T) {
	s := smtptest.New(t, nil)
	cfg := s.Config()
	s.Close()
	if err := newSender(t, cfg).Send(t.Context(), recipient, "code", "text"); !smtp.Retriable(err) {
		t.Errorf("error %v, want a retriable one", err)
	}
}

func TestReachGreetsAndLeaves(t *testing.T) {
	s := smtptest.New(t, nil)
	if err := newSender(t, s.Config()).Reach(t.Context()); err != nil {
		t.Fatal(err)
	}
	heard := s.Heard()
	if !strings.HasPrefix(heard, "EHLO") || !strings.HasSuffix(heard, "QUIT") || strings.Contains(heard, "AUTH") || strings.Contains(heard, "MAIL") {
		t.Errorf("the server heard\n%s\nwant a greeting and a goodbye", heard)
	}
	s.Close()
	if err := newSender(t, s.Config()).Reach(t.Context()); !smtp.Retriable(err) {
		t.Errorf("a server that is down: %v, want a retriable error", err)
	}
}
