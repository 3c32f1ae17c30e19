package post

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/alerts/render"
	"github.com/errata-log/errata/signin/smtp"
	"github.com/errata-log/errata/test/smtptest"
)

func mailTo(t *testing.T, addresses ...string) render.Request {
	t.Helper()
	item := alerts.Item{Cause: alerts.CauseNew, Count: 1, Project: "shop", Class: "TypeError", Text: "Größe fehlt <b>\r\nBcc: eve@evil.example"}
	r, err := render.Render(alerts.Channel{Kind: alerts.Email, Addresses: addresses},
		alerts.Message{ID: "msg_1", RuleName: "checkout", RuleLink: "https://errata.example.com/alerts/rules/r1", Items: []alerts.Item{item}}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mailSender(t *testing.T, server *smtptest.Server) *Sender {
	t.Helper()
	mailer, err := smtp.New(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{Mail: mailer})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Each address gets a mail of its own with text and HTML, and the same id at each try.
func TestAMailArrives(t *testing.T) {
	server := smtptest.New(t, nil)
	sender, request := mailSender(t, server), mailTo(t, "ann@example.org", "bob@example.org")
	for range 2 {
		if o := sender.Send(t.Context(), request); !o.OK || o.Err != "" || o.Left != nil || o.Permanent {
			t.Fatalf("outcome %+v", o)
		}
	}
	mails := server.Arrived()
	if len(mails) != 4 || mails[0].To != "TO:<ann@example.org>" || mails[1].To != "TO:<bob@example.org>" {
		t.Fatalf("mails %+v", mails)
	}
	var ids []string
	for _, mail := range mails {
		subject, _, header := smtptest.Parse(t, mail.Data)
		parts := smtptest.Parts(t, mail.Data)
		if subject != request.Mail.Subject || !strings.Contains(subject, "New error in shop: TypeError: Größe fehlt") || header.Get("Bcc") != "" {
			t.Errorf("subject %q, header %v", subject, header)
		}
		if len(parts) != 2 || parts[0].Text != request.Mail.Text || parts[1].Text != request.Mail.HTML || parts[1].Type != "text/html" {
			t.Errorf("parts %q", parts)
		}
		ids = append(ids, header.Get("Message-ID"))
	}
	if ids[0] != ids[2] || ids[1] != ids[3] || ids[0] == ids[1] {
		t.Errorf("ids %q", ids)
	}
}

func TestMailsThatAreNotTaken(t *testing.T) {
	all := []string{"ann@example.org", "bob@example.org", "eve@example.org"}
	on := func(command, reply string) func(*smtptest.Server) {
		return func(s *smtptest.Server) {
			s.Answer = func(heard string) string {
				if strings.HasPrefix(heard, command) {
					return reply
				}
				return ""
			}
		}
	}
	for name, c := range map[string]struct {
		server    func(*smtptest.Server)
		to        []string
		left      []string
		status    int
		permanent bool
		arrived   int
	}{
		"one address is refused":    {on("RCPT TO:<bob", "550 no such user"), all, nil, 550, true, 2},
		"one address has to wait":   {on("RCPT TO:<bob", "450 greylisted"), all, all[1:2], 450, false, 2},
		"the only one is refused":   {on("RCPT", "550 no such user"), all[:1], nil, 550, true, 0},
		"the login is wrong":        {on("AUTH", "535 wrong"), all, all, 535, false, 0},
		"the server breaks off":     {on("RCPT TO:<bob", smtptest.HangUp), all, all[1:], 0, false, 1},
		"the server is not willing": {on("MAIL", "421 later"), all, all, 421, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			server := smtptest.New(t, c.server)
			o := mailSender(t, server).Send(t.Context(), mailTo(t, c.to...))
			if o.OK || o.Err == "" || o.Status != c.status || o.Permanent != c.permanent || !slices.Equal(o.Left, c.left) || len(server.Arrived()) != c.arrived {
				t.Errorf("%d arrived, %+v", len(server.Arrived()), o)
			}
			for _, secret := range append(all, "correct horse") {
				if strings.Contains(o.Err, secret) {
					t.Errorf("the error shows %s: %s", secret, o.Err)
				}
			}
		})
	}
	sender, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if o := sender.Send(t.Context(), mailTo(t, all...)); o.OK || o.Permanent || !slices.Equal(o.Left, all) || !strings.Contains(o.Err, "mail server") {
		t.Errorf("without a mail server: %+v", o)
	}
}
