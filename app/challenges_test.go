package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/signin/smtp"
	"github.com/errata-log/errata/test/smtptest"
)

// mailOptions are those of a service that hands mails to s.
func mailOptions(t *testing.T, s *smtptest.Server) app.Options {
	t.Helper()
	o := testOptions(t)
	o.MailModule, o.SMTP = "smtp", s.Config()
	o.SMTP.TLS = smtp.NoTLS
	return o
}

// signInAnswer is what the routes of codes answer.
type signInAnswer struct {
	status int
	text   string
	Data   struct {
		ID        string
		Verified  bool
		TriesLeft int `json:"tries_left"`
		Outcome   string
		Secret    string
		URL       string
	}
	Error struct{ Code string }
}

// signInClient asks one service.
type signInClient struct {
	t        *testing.T
	url, key string
}

func newSignInClient(t *testing.T, a *app.App) signInClient {
	return signInClient{t, a.Welcome().URL, key(t, a.Welcome().AdminKeyFile)}
}

func (c signInClient) ask(method, path, body string) signInAnswer {
	c.t.Helper()
	status, text := request(c.t, method, c.url+path, c.key, body)
	got := signInAnswer{status: status, text: text}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		c.t.Fatalf("%s %s: %d %s: %v", method, path, status, text, err)
	}
	return got
}

func (c signInClient) post(path, body string) signInAnswer {
	c.t.Helper()
	return c.ask("POST", "/api/v1/sign-in/"+path, body)
}

// methods turns methods on, and all others off.
func (c signInClient) methods(keys string) {
	c.t.Helper()
	if got := c.ask("PUT", "/api/v1/admin/settings/security/two-factor", `{"authentications":[`+keys+`]}`); got.status != http.StatusOK {
		c.t.Fatalf("turn %s on: %s", keys, got.text)
	}
}

// send has a code sent to ann for an account.
func (c signInClient) send(account string) signInAnswer {
	c.t.Helper()
	return c.post("challenges", `{"side":"admin","account":"`+account+`","method":"email","to":"ann@example.org"}`)
}

func (c signInClient) verify(id, account, code string) signInAnswer {
	c.t.Helper()
	return c.post("challenges/"+id+"/verify", fmt.Sprintf(`{"account":%q,"code":%q}`, account, code))
}

// wants checks an answer to a code.
func wants(t *testing.T, what string, got signInAnswer, outcome string, left int) {
	t.Helper()
	if got.status != http.StatusOK || got.Data.Outcome != outcome || got.Data.Verified != (outcome == "passed") || got.Data.TriesLeft != left {
		t.Errorf("%s: %d %s, want %s with %d tries left", what, got.status, got.text, outcome, left)
	}
}

func wantsError(t *testing.T, what string, got signInAnswer, status int, code string) {
	t.Helper()
	if got.status != status || got.Error.Code != code {
		t.Errorf("%s: %d %s, want %d %s", what, got.status, got.text, status, code)
	}
}

var sixDigits = regexp.MustCompile(`\b\d{6}\b`)

// lastCode reads the code out of the mail that came last.
func lastCode(t *testing.T, s *smtptest.Server) string {
	t.Helper()
	mails := s.Arrived()
	if len(mails) == 0 {
		t.Fatal("no mail arrived")
	}
	subject, text, _ := smtptest.Parse(t, mails[len(mails)-1].Data)
	code := sixDigits.FindString(text)
	if code == "" || strings.Contains(subject, code) || !strings.Contains(subject, "Errata") || !strings.Contains(text, "10 minutes") {
		t.Fatalf("subject %q, text %q", subject, text)
	}
	return code
}

// otherCode is a code that is not the one given.
func otherCode(code string) string {
	return code[:5] + string('0'+(code[5]-'0'+1)%10)
}

// TestCodesByMail is the whole way of a code, with a mail server.
//
// long: the life of one service, whose steps build on each other.
func TestCodesByMail(t *testing.T) {
	var mu sync.Mutex
	reply := ""
	s := smtptest.New(t, func(s *smtptest.Server) {
		s.Answer = func(command string) string {
			mu.Lock()
			defer mu.Unlock()
			if strings.HasPrefix(command, "RCPT") {
				return reply
			}
			return ""
		}
	})
	answers := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		reply = text
	}
	a := build(t, mailOptions(t, s))
	run(t, a)
	c := newSignInClient(t, a)

	wantsError(t, "a method that was never on", c.send("7"), http.StatusUnprocessableEntity, "method_off")
	c.methods(`"email"`)
	sent := c.send("7")
	if sent.status != http.StatusCreated || sent.Data.ID == "" {
		t.Fatalf("send: %d %s", sent.status, sent.text)
	}
	code := lastCode(t, s)
	if mail := s.Arrived()[0]; mail.To != "TO:<ann@example.org>" || mail.Login != "errata" {
		t.Errorf("mail to %s, logged in as %q", mail.To, mail.Login)
	}
	wants(t, "wrong", c.verify(sent.Data.ID, "7", otherCode(code)), "wrong", 4)
	wants(t, "of another account", c.verify(sent.Data.ID, "8", code), "unknown", 0)
	wants(t, "right", c.verify(sent.Data.ID, "7", code[:3]+" "+code[3:]), "passed", 0)
	wants(t, "a second time", c.verify(sent.Data.ID, "7", code), "used", 0)

	sent = c.send("9")
	code = lastCode(t, s)
	for left := 4; left >= 0; left-- {
		wants(t, "wrong", c.verify(sent.Data.ID, "9", otherCode(code)), "wrong", left)
	}
	wants(t, "right, after five wrong ones", c.verify(sent.Data.ID, "9", code), "exhausted", 0)

	answers("550 no such user")
	wantsError(t, "no such recipient", c.send("10"), http.StatusUnprocessableEntity, "mail_refused")
	answers("451 greylisted")
	wantsError(t, "greylisted", c.send("10"), http.StatusServiceUnavailable, "mail_unavailable")
	answers("")
	for range 3 {
		if got := c.send("10"); got.status != http.StatusCreated {
			t.Fatalf("send: %d %s", got.status, got.text)
		}
	}
	wantsError(t, "the sixth code", c.send("10"), http.StatusTooManyRequests, "rate_limited")

	sent = c.send("11")
	code = lastCode(t, s)
	c.methods(``)
	mails := len(s.Arrived())
	wantsError(t, "a code of a method that was turned off", c.verify(sent.Data.ID, "11", code), http.StatusUnprocessableEntity, "method_off")
	wantsError(t, "a method that was turned off", c.send("11"), http.StatusUnprocessableEntity, "method_off")
	if now := len(s.Arrived()); now != mails {
		t.Errorf("%d mails arrived after the method was turned off", now-mails)
	}
	c.methods(`"email"`)
	wants(t, "on again, and the code had not been used", c.verify(sent.Data.ID, "11", code), "passed", 0)
}

// TestMailOfAService: what a mail can be sent to and when, and the test mail.
func TestMailOfAService(t *testing.T) {
	s := smtptest.New(t, nil)
	a := build(t, mailOptions(t, s))
	run(t, a)
	c := newSignInClient(t, a)
	send := func(fields string) signInAnswer {
		t.Helper()
		return c.post("challenges", `{"side":"client","account":"7",`+fields+`}`)
	}
	// The checks of places and addresses have settings of their own.
	if got := send(`"method":"Email","to":"ann@example.org","purpose":"location"`); got.status != http.StatusCreated {
		t.Errorf("for a place: %d %s", got.status, got.text)
	} else {
		code := lastCode(t, s)
		wantsError(t, "as the second step, which is off", c.verify(got.Data.ID, "7", code), http.StatusUnprocessableEntity, "method_off")
		asked := fmt.Sprintf(`{"account":"7","purpose":"location","code":%q}`, code)
		wants(t, "for the place", c.post("challenges/"+got.Data.ID+"/verify", asked), "passed", 0)
	}
	wantsError(t, "no such method", send(`"method":"pigeon","to":"ann@example.org"`), http.StatusUnprocessableEntity, "invalid_method")
	c.methods(`"email","totp"`)
	wantsError(t, "an app cannot send", send(`"method":"totp","to":"ann@example.org"`), http.StatusUnprocessableEntity, "invalid_method")
	wantsError(t, "two recipients", send(`"method":"email","to":"ann@example.org,eve@example.org"`), http.StatusUnprocessableEntity, "invalid_recipient")

	const testMail = "/api/v1/admin/settings/mail/test"
	if got := c.ask("POST", testMail, `{"to":"ann@example.org"}`); got.status != http.StatusOK {
		t.Errorf("test mail: %d %s", got.status, got.text)
	}
	wantsError(t, "a test mail to nobody", c.ask("POST", testMail, `{}`), http.StatusUnprocessableEntity, "invalid_recipient")
	mails := s.Arrived()
	if subject, _, _ := smtptest.Parse(t, mails[len(mails)-1].Data); !strings.Contains(subject, "test mail") {
		t.Errorf("the last mail is %q", subject)
	}
	s.Close()
	wantsError(t, "nobody answers", c.ask("POST", testMail, `{"to":"ann@example.org"}`), http.StatusServiceUnavailable, "mail_unavailable")
}

// TestAuthenticatorApps is the life of an account's app, on a service without
// a mail module.
func TestAuthenticatorApps(t *testing.T) {
	o := testOptions(t)
	var mu sync.Mutex
	shift := time.Duration(0)
	o.Now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return time.Now().Add(shift)
	}
	a := build(t, o)
	run(t, a)
	c := newSignInClient(t, a)

	wantsError(t, "no mail module", c.send("7"), http.StatusUnprocessableEntity, "mail_module_required")
	wantsError(t, "no mail module", c.ask("POST", "/api/v1/admin/settings/mail/test", `{"to":"ann@example.org"}`), http.StatusUnprocessableEntity, "mail_module_required")
	wantsError(t, "the method is off", c.post("authenticators", `{"account":"7"}`), http.StatusUnprocessableEntity, "method_off")
	c.methods(`"totp"`)
	enrolled := c.post("authenticators", `{"account":"7","label":"ann@example.org"}`)
	if enrolled.status != http.StatusCreated || !strings.HasPrefix(enrolled.Data.URL, "otpauth://totp/Errata:ann@example.org?") {
		t.Fatalf("enrol: %d %s", enrolled.status, enrolled.text)
	}
	body := func() string {
		t.Helper()
		code, err := totp.GenerateCode(enrolled.Data.Secret, o.Now())
		if err != nil {
			t.Fatal(err)
		}
		return `{"account":"7","code":"` + code + `"}`
	}
	wants(t, "before it is confirmed", c.post("authenticators/verify", body()), "not_enrolled", 0)
	first := body()
	wants(t, "confirm", c.post("authenticators/confirm", first), "passed", 0)
	wants(t, "the code that confirmed", c.post("authenticators/verify", first), "used", 0)
	wantsError(t, "a second app", c.post("authenticators", `{"account":"7"}`), http.StatusConflict, "already_enrolled")

	mu.Lock()
	shift += time.Minute // the next code but one
	mu.Unlock()
	next := body()
	c.methods(``)
	wantsError(t, "the method was turned off", c.post("authenticators/verify", next), http.StatusUnprocessableEntity, "method_off")
	c.methods(`"totp"`)
	wants(t, "verify", c.post("authenticators/verify", next), "passed", 0)
	wants(t, "again", c.post("authenticators/verify", next), "used", 0)
	if got := c.ask("DELETE", "/api/v1/sign-in/authenticators", `{"account":"7"}`); got.status != http.StatusOK {
		t.Errorf("remove: %d %s", got.status, got.text)
	}
	wants(t, "after it was removed", c.post("authenticators/verify", body()), "not_enrolled", 0)
}
