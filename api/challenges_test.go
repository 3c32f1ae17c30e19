package api_test

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/signin"
	"github.com/errata-log/errata/signin/challenge"
)

// codes notes the calls, and answers with its fields.
type codes struct {
	sent    []signin.CodeRequest
	given   []challenge.Answer
	words   []string // of the calls that have nothing else
	verdict challenge.Verdict
	err     error
}

const codeID = "0123456789abcdef0123456789abcdef"

func (c *codes) Send(_ context.Context, r signin.CodeRequest) (signin.SentCode, error) {
	c.sent = append(c.sent, r)
	return signin.SentCode{ID: codeID, Method: "email", Expires: start.Add(10 * time.Minute)}, c.err
}

func (c *codes) Verify(_ context.Context, given challenge.Answer) (challenge.Verdict, error) {
	c.words, c.given = append(c.words, "verify "+given.ID), append(c.given, given)
	return c.verdict, c.err
}

func (c *codes) Enrol(_ context.Context, account, label string) (challenge.App, error) {
	c.words = append(c.words, "enrol "+account+" as "+label)
	return challenge.App{Secret: "ORSXG5A", URL: "otpauth://totp/x"}, c.err
}

func (c *codes) Confirm(_ context.Context, given challenge.Answer) (challenge.Verdict, error) {
	c.words, c.given = append(c.words, "confirm"), append(c.given, given)
	return c.verdict, c.err
}

func (c *codes) VerifyApp(_ context.Context, given challenge.Answer) (challenge.Verdict, error) {
	c.words, c.given = append(c.words, "app"), append(c.given, given)
	return c.verdict, c.err
}

func (c *codes) Remove(_ context.Context, account string) error {
	c.words = append(c.words, "remove "+account)
	return c.err
}

func (c *codes) SendTestMail(_ context.Context, to string) error {
	c.words = append(c.words, "test mail to "+to)
	return c.err
}

const (
	challengesPath     = "/api/v1/sign-in/challenges"
	authenticatorsPath = "/api/v1/sign-in/authenticators"
)

// TestCodesArePassedOn: what is sent reaches the module, and its result is the
// answer.
//
// long: a table with a row for each route.
func TestCodesArePassedOn(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.SignInEvaluate, access.SettingsUpdateTwoFactor)
	b.codes.verdict = challenge.Verdict{Left: 4, Outcome: "wrong"}
	for _, c := range []struct {
		method, target, body string
		status               int
		want                 string
	}{
		{"POST", challengesPath, `{"side":"admin","account":"7","method":"email","to":"ann@example.org","address":"203.0.113.9"}`,
			http.StatusCreated, `{"data":{"expires_at":"2026-11-21T04:08:25.123Z","id":"` + codeID + `","method":"email"}}`},
		{"POST", challengesPath, `{"side":"client","account":"7","method":"email","to":"ann@example.org","purpose":"location"}`,
			http.StatusCreated, `{"data":{"expires_at":"2026-11-21T04:08:25.123Z","id":"` + codeID + `","method":"email"}}`},
		{"POST", challengesPath + "/" + codeID + "/verify", `{"account":"7","code":"012 345"}`,
			http.StatusOK, `{"data":{"outcome":"wrong","tries_left":4,"verified":false}}`},
		{"POST", authenticatorsPath, `{"account":"7"}`, http.StatusCreated, `{"data":{"secret":"ORSXG5A","url":"otpauth://totp/x"}}`},
		{"POST", authenticatorsPath, `{"account":"7","label":"ann"}`, http.StatusCreated, `{"data":{"secret":"ORSXG5A","url":"otpauth://totp/x"}}`},
		{"POST", authenticatorsPath + "/confirm", `{"account":"7","code":"1"}`, http.StatusOK, `{"data":{"outcome":"wrong","verified":false}}`},
		{"POST", authenticatorsPath + "/verify", `{"account":"8","code":"` + strings.Repeat("1", 65) + `"}`, http.StatusOK, `{"data":{"outcome":"wrong","verified":false}}`},
		{"DELETE", authenticatorsPath, `{"account":"7"}`, http.StatusOK, `{"data":{"account":"7","removed":true}}`},
		{"POST", "/api/v1/admin/settings/mail/test", `{"to":"ann@example.org"}`, http.StatusOK, `{"data":{"sent":true}}`},
	} {
		w := b.do(request{method: c.method, target: c.target, key: key, body: c.body})
		if got := strings.TrimSpace(w.Body.String()); w.Code != c.status || got != c.want {
			t.Errorf("%s %s %s: %d %s, want %d %s", c.method, c.target, c.body, w.Code, got, c.status, c.want)
		}
	}
	if diff := cmp.Diff([]signin.CodeRequest{
		{Account: "7", Purpose: signin.CheckTwoFactor, Method: "email", To: "ann@example.org", Address: netip.MustParseAddr("203.0.113.9")},
		{Account: "7", Purpose: signin.CheckLocation, Method: "email", To: "ann@example.org"},
	}, b.codes.sent, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"verify " + codeID, "enrol 7 as 7", "enrol 7 as ann", "confirm", "app", "remove 7", "test mail to ann@example.org",
	}, b.codes.words); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if got := b.codes.given; got[0].Code != "012 345" || got[0].Purpose != string(signin.CheckTwoFactor) || got[2].Code != "" {
		t.Errorf("given codes %+v", got)
	}
}

func TestCodesThatAreNotAskedFor(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.SignInEvaluate)
	long := strings.Repeat("a", 191)
	for _, c := range []struct{ body, code string }{
		{`{"account":"7","method":"email","to":"ann@example.org"}`, "invalid_side"},
		{`{"side":"guest","account":"7","method":"email","to":"ann@example.org"}`, "invalid_side"},
		{`{"side":"admin","method":"email","to":"ann@example.org"}`, "invalid_account"},
		{`{"side":"admin","account":"` + long + `","method":"email"}`, "invalid_account"},
		{`{"side":"admin","account":"7","purpose":"fun"}`, "invalid_purpose"},
		{`{"side":"admin","account":"7","address":"here"}`, "invalid_ip"},
		{`{"side":"admin","account":7}`, "invalid_body"},
	} {
		w := b.do(request{method: "POST", target: challengesPath, key: key, body: c.body})
		if code(t, w) != c.code {
			t.Errorf("%.80s: %d %s, want %s", c.body, w.Code, w.Body, c.code)
		}
	}
	for _, target := range []string{challengesPath + "/" + codeID + "/verify", authenticatorsPath + "/confirm", authenticatorsPath + "/verify"} {
		for body, want := range map[string]string{`{"account":"7"}`: "The field code is missing", `{"account":"7","code":null}`: "The field code holds a JSON null"} {
			w := b.do(request{method: "POST", target: target, key: key, body: body})
			if code(t, w) != "invalid_body" || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s %s: %d %s, want invalid_body with %q", target, body, w.Code, w.Body, want)
			}
		}
	}
	if len(b.codes.sent)+len(b.codes.given) != 0 {
		t.Errorf("%d codes were sent and %d checked", len(b.codes.sent), len(b.codes.given))
	}
}

// TestCodesThatCannotBeSent: the caller learns how long to wait.
func TestCodesThatCannotBeSent(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.SignInEvaluate)
	for kind, status := range map[errata.Kind]int{
		errata.KindMailUnavailable: http.StatusServiceUnavailable,
		errata.KindRateLimited:     http.StatusTooManyRequests,
	} {
		b.codes.err = &errata.Error{Kind: kind, Message: "Wait.", RetryAfter: 29500 * time.Millisecond}
		w := b.do(request{method: "POST", target: challengesPath, key: key, body: `{"side":"admin","account":"7","method":"email","to":"ann@example.org"}`})
		if w.Code != status || code(t, w) != string(kind) || w.Header().Get("Retry-After") != "30" {
			t.Errorf("%s: %d %s, Retry-After %q", kind, w.Code, w.Body, w.Header().Get("Retry-After"))
		}
	}
}

// TestCodesAreGoodOnceWithAKeyToo: a repeat with the same Idempotency-Key is
// checked again.
func TestCodesAreGoodOnceWithAKeyToo(t *testing.T) {
	b := newBench(t, nil)
	b.codes.verdict = challenge.Verdict{Outcome: "used"}
	key := b.key(t, access.SignInEvaluate)
	for range 2 {
		b.do(request{
			method: "POST", target: authenticatorsPath + "/verify", key: key, body: `{"account":"7","code":"012345"}`,
			headers: []string{"Idempotency-Key: 0123456789"},
		})
	}
	if len(b.codes.given) != 2 || len(b.kept.kept) != 0 {
		t.Errorf("%d codes were checked and %d answers kept, want 2 and 0", len(b.codes.given), len(b.kept.kept))
	}
}
