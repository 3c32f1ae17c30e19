package smtp_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/signin/smtp"
	"github.com/errata-log/errata/test/smtptest"
)

func TestValidate(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*smtp.Config)
		want   string // "" when it is fine
	}{
		"least":                   {func(*smtp.Config) {}, ""},
		"IPv6":                    {func(c *smtp.Config) { c.Host = "2001:db8::1" }, ""},
		"login":                   {func(c *smtp.Config) { c.Username, c.Password = "u", "p" }, ""},
		"clear to localhost":      {func(c *smtp.Config) { c.Host, c.TLS = "localhost", smtp.NoTLS }, ""},
		"clear to ::1":            {func(c *smtp.Config) { c.Host, c.TLS = "::1", smtp.NoTLS }, ""},
		"clear elsewhere":         {func(c *smtp.Config) { c.TLS = smtp.NoTLS }, "smtp: TLS"},
		"clear, allowed":          {func(c *smtp.Config) { c.TLS, c.AllowClearText = smtp.NoTLS, true }, ""},
		"clear to localhost.evil": {func(c *smtp.Config) { c.Host, c.TLS = "localhost.example.com", smtp.NoTLS }, "smtp: TLS"},
		"no host":                 {func(c *smtp.Config) { c.Host = "" }, "smtp: Host"},
		"host with port":          {func(c *smtp.Config) { c.Host = "mail:25" }, "smtp: Host"},
		"host as URL":             {func(c *smtp.Config) { c.Host = "smtp://mail" }, "smtp: Host"},
		"host with line":          {func(c *smtp.Config) { c.Host = "mail\r\nX" }, "smtp: Host"},
		"port":                    {func(c *smtp.Config) { c.Port = 70000 }, "smtp: Port"},
		"negative port":           {func(c *smtp.Config) { c.Port = -1 }, "smtp: Port"},
		"mode":                    {func(c *smtp.Config) { c.TLS = "ssl" }, "smtp: TLS"},
		"user alone":              {func(c *smtp.Config) { c.Username = "u" }, "smtp: Password"},
		"password alone":          {func(c *smtp.Config) { c.Password = "p" }, "smtp: Username"},
		"password with its line":  {func(c *smtp.Config) { c.Username, c.Password = "u", "hunter2\n" }, "smtp: Password"},
		"user with a zero byte":   {func(c *smtp.Config) { c.Username, c.Password = "u\x00", "p" }, "smtp: Username"},
		"no sender":               {func(c *smtp.Config) { c.From = "" }, "smtp: From"},
		"sender is a word":        {func(c *smtp.Config) { c.From = "errata" }, "smtp: From"},
		"sender with header":      {func(c *smtp.Config) { c.From = "a@example.com\r\nBcc: b@example.com" }, "smtp: From"},
		"time":                    {func(c *smtp.Config) { c.Timeout = -time.Second }, "smtp: Timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := smtp.Config{Host: "mail.example.com", From: "errata@example.com"}
			test.change(&cfg)
			err := cfg.Validate()
			if _, newErr := smtp.New(cfg); (newErr == nil) != (err == nil) {
				t.Errorf("New says %v, Validate %v", newErr, err)
			}
			switch {
			case test.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)):
				t.Errorf("error %v, want one that names %s", err, test.want)
			case err != nil && strings.Contains(err.Error(), "hunter2"):
				t.Errorf("the error holds the password: %v", err)
			}
		})
	}
}

// A text that is no plain address, or a subject of several lines, never reaches
// the server.
func TestInjection(t *testing.T) {
	s := smtptest.New(t, nil)
	sender := newSender(t, s.Config())
	for _, to := range []string{
		"", " ", "ann", "@example.org", "ann@", "ann@example.org\r\nBcc: eve@example.org", "ann@example.org\nRCPT TO:<eve@example.org>",
		"ann@example.org,eve@example.org", "Ann <ann@example.org>", "<ann@example.org>", "ann@example.org (x)", "ann@example.org>",
		"ann@example.org\x00", "\"ann\r\nx\"@example.org", "\"a b\"@example.org", "ann@example.org;eve@example.org", "ann@ex ample.org",
		"ann@example.org\u2028Bcc: x", "ann@a@b.org", strings.Repeat("a", 250) + "@example.org", "ann@\xff.org",
	} {
		refuse(t, sender, to, "subject", "text")
	}
	for _, subject := range []string{
		"", "  ", "code\r\nBcc: eve@example.org", "code\nX: y", "code\rX: y", "a\x00b", "a\u2028b", "\xff", strings.Repeat("x", 201), "a\x1b[31m",
	} {
		refuse(t, sender, recipient, subject, "text")
	}
	for _, text := range []string{"", "a\x00b", "\xff\xfe", strings.Repeat("x", 64<<10+1)} {
		refuse(t, sender, recipient, "subject", text)
	}
	if heard := s.Heard(); heard != "" {
		t.Errorf("the server heard %s", heard)
	}
}

func refuse(t *testing.T, sender *smtp.Sender, to, subject, text string) {
	t.Helper()
	err := sender.Send(t.Context(), to, subject, text)
	var e *smtp.Error
	if !errors.As(err, &e) || e.Retriable {
		t.Errorf("Send(%q, %q, %.20q) = %v, want a final refusal", to, subject, text, err)
	}
}

// A mail of which a part cannot be sent as it is never reaches the server.
func TestWrongMails(t *testing.T) {
	s := smtptest.New(t, nil)
	sender := newSender(t, s.Config())
	for name, change := range map[string]func(*smtp.Mail){
		"id with a line": func(m *smtp.Mail) { m.ID = "a\r\nBcc: eve@example.org" }, "id with an at": func(m *smtp.Mail) { m.ID = "a@b" },
		"id with an angle": func(m *smtp.Mail) { m.ID = "a>b" }, "long id": func(m *smtp.Mail) { m.ID = strings.Repeat("a", 65) },
		"HTML with a zero byte": func(m *smtp.Mail) { m.HTML = "<p>\x00" }, "HTML that is no UTF-8": func(m *smtp.Mail) { m.HTML = "<p>\xff" },
		"long HTML": func(m *smtp.Mail) { m.HTML = strings.Repeat("x", 64<<10+1) }, "no text": func(m *smtp.Mail) { m.Text = "" },
	} {
		mail := smtp.Mail{To: recipient, Subject: "subject", Text: "text", HTML: "<p>text</p>", ID: "alert-1"}
		change(&mail)
		if err := sender.SendMail(t.Context(), mail); err == nil || smtp.Retriable(err) {
			t.Errorf("%s: %v, want a final refusal", name, err)
		}
	}
	if heard := s.Heard(); heard != "" {
		t.Errorf("the server heard %s", heard)
	}
}

// A mail with HTML has both forms, the text first, and a mail program shows the last one
// that it knows. The id stays the same.
func TestTextAndHTML(t *testing.T) {
	s := smtptest.New(t, nil)
	sender := newSender(t, s.Config())
	mail := smtp.Mail{To: recipient, Subject: "Neuer Fehler – 日本", Text: "Größe\n.\nfehlt\n", HTML: "<p>Größe</p>\n.\n<p>" + strings.Repeat("long ", 400) + "</p>\n", ID: "alert-1-a"}
	for range 2 {
		if err := sender.SendMail(t.Context(), mail); err != nil {
			t.Fatal(err)
		}
	}
	for _, arrived := range s.Arrived() {
		parts := smtptest.Parts(t, arrived.Data)
		if len(parts) != 2 || parts[0] != (smtptest.Part{Type: "text/plain", Text: mail.Text}) || parts[1] != (smtptest.Part{Type: "text/html", Text: mail.HTML}) {
			t.Errorf("parts %q", parts)
		}
		subject, _, header := smtptest.Parse(t, arrived.Data)
		if subject != mail.Subject || header.Get("Message-ID") != "<alert-1-a@example.com>" || header.Get("Auto-Submitted") != "auto-generated" {
			t.Errorf("subject %q, header %v", subject, header)
		}
	}
}

// A text may look like the end of the mail or like another header; it stays text.
func TestTextStaysText(t *testing.T) {
	s := smtptest.New(t, nil)
	text := "Subject: other\r\n\r\n.\r\nQUIT\r\n..\r\n" + strings.Repeat("long ", 400) + "\r\n.\r\nMAIL FROM:<eve@example.org>"
	if err := newSender(t, s.Config()).Send(t.Context(), recipient, "code", text); err != nil {
		t.Fatal(err)
	}
	subject, got, _ := smtptest.Parse(t, s.Arrived()[0].Data)
	normal := strings.NewReplacer("\r\n", "\n")
	if subject != "code" || normal.Replace(got) != normal.Replace(text) {
		t.Errorf("subject %q, text %q", subject, got)
	}
	if len(s.Arrived()) != 1 || strings.Count(s.Heard(), "MAIL FROM") != 1 {
		t.Errorf("%d mails, commands:\n%s", len(s.Arrived()), s.Heard())
	}
}
