package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/internal/httpstatus"
	"github.com/errata-log/errata/signin"
)

// signIns notes its calls, and answers with its fields.
type signIns struct {
	asked    []signin.Attempt
	told     []signInOutcome
	decision signin.Decision
	err      error
}

// signInOutcome is how a sign-in ended.
type signInOutcome struct {
	signin.Attempt
	Success bool
}

// newSignIns asks for nothing.
func newSignIns() *signIns {
	return &signIns{decision: signin.Decide(signin.Request{}, signin.Standard(), signin.BuiltIn(false))}
}

func (s *signIns) Evaluate(_ context.Context, a signin.Attempt) (signin.Decision, error) {
	s.asked = append(s.asked, a)
	return s.decision, s.err
}

func (s *signIns) Record(_ context.Context, a signin.Attempt, success bool) error {
	s.told = append(s.told, signInOutcome{a, success})
	return s.err
}

const (
	evaluatePath = "/api/v1/sign-in/evaluate"
	outcomesPath = "/api/v1/sign-in/outcomes"
)

var sameAddr = cmp.Comparer(func(a, b netip.Addr) bool { return a == b })

func TestEvaluateSignIn(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.SignInEvaluate)
	body := `{"side":"admin","account":"Ada Łovelace","ip":" ::ffff:203.0.113.9 ","methods":["totp","sms"]}`
	if w := b.do(request{method: "POST", target: evaluatePath, key: key, body: body}); w.Code != 200 || w.Body.String() != `{"data":{"checks":[],"remind":false,"warnings":[],"place":""}}`+"\n" {
		t.Errorf("nothing asked: %d %s", w.Code, w.Body)
	}
	want := []signin.Attempt{{Side: signin.Admin, Account: "Ada Łovelace", Address: netip.MustParseAddr("203.0.113.9"), Methods: []string{"totp", "sms"}}}
	if diff := cmp.Diff(want, b.signIns.asked, sameAddr); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	b.signIns.decision = signin.Decision{
		Country:  "DE",
		Checks:   []signin.Check{{Kind: signin.CheckTwoFactor, Methods: []string{"totp"}, Reason: signin.ReasonSetUp}, {Kind: signin.CheckAddress, Methods: []string{"Email"}, Reason: signin.ReasonFirst}},
		Remind:   true,
		Warnings: []signin.Warning{{Code: signin.WarnMailModule, Message: "Configure one."}},
	}
	golden(t, "signin_evaluate", b.do(request{method: "POST", target: evaluatePath, key: key, body: body}))
	b.signIns.err = errata.Errorf(errata.KindLogFull, "full")
	if w := b.do(request{method: "POST", target: evaluatePath, key: key, body: body}); w.Code != http.StatusServiceUnavailable {
		t.Errorf("on a full log: %d %s", w.Code, w.Body)
	}
	if w := b.do(request{method: "POST", target: evaluatePath, key: b.key(t, access.SignInRecord), body: body}); w.Code != http.StatusForbidden {
		t.Errorf("with the other scope: %d %s", w.Code, w.Body)
	}
}

func TestRecordSignIn(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.SignInRecord)
	for success, want := range map[string]bool{"true": true, "1": true, "false": false, "0": false} {
		b.signIns.told = nil
		w := b.do(request{method: "POST", target: outcomesPath, key: key, body: `{"side":"client","account":"7","ip":"2001:db8::1","success":` + success + `,"methods_used":["totp"]}`})
		if w.Code != 200 || w.Body.String() != `{"data":{"recorded":true}}`+"\n" {
			t.Errorf("success %s: %d %s", success, w.Code, w.Body)
		}
		told := []signInOutcome{{signin.Attempt{Side: signin.Client, Account: "7", Address: netip.MustParseAddr("2001:db8::1"), Methods: []string{"totp"}}, want}}
		if diff := cmp.Diff(told, b.signIns.told, sameAddr); diff != "" {
			t.Errorf("success %s (-want +got):\n%s", success, diff)
		}
	}
	b.signIns.err = errata.Errorf(errata.KindStoreUnavailable, "later")
	if w := b.do(request{method: "POST", target: outcomesPath, key: key, body: `{"side":"client","account":"7","ip":"::1","success":true}`}); w.Code != http.StatusServiceUnavailable || code(t, w) != "store_unavailable" {
		t.Errorf("when it is not known yet: %d %s", w.Code, w.Body)
	}
	if w := b.do(request{method: "POST", target: outcomesPath, key: b.key(t, access.SignInEvaluate), body: `{}`}); w.Code != http.StatusForbidden {
		t.Errorf("with the other scope: %d %s", w.Code, w.Body)
	}
}

// TestSignInsThatAreRefused: a wrong body makes no call, and an account has up
// to 190 characters, not bytes.
func TestSignInsThatAreRefused(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.SignInEvaluate, access.SignInRecord)
	body := func(change ...string) string {
		fields := map[string]string{"side": `"admin"`, "account": `"ada"`, "ip": `"203.0.113.9"`, "success": "true"}
		for i := 0; i < len(change); i += 2 {
			fields[change[i]] = change[i+1]
		}
		var list []string
		for name, value := range fields {
			if value != "" {
				list = append(list, fmt.Sprintf("%q:%s", name, value))
			}
		}
		return "{" + strings.Join(list, ",") + "}"
	}
	for _, path := range []string{evaluatePath, outcomesPath} {
		methods := map[string]string{evaluatePath: "methods", outcomesPath: "methods_used"}[path]
		for _, test := range []struct{ field, value, code string }{
			{"side", `"owner"`, "invalid_side"},
			{"side", `"Admin"`, "invalid_side"},
			{"side", `""`, "invalid_side"},
			{"side", `null`, "invalid_body"},
			{"side", ``, "invalid_body"},
			{"account", `""`, "invalid_account"},
			{"account", `"` + strings.Repeat("ł", 191) + `"`, "invalid_account"},
			{"account", `7`, "invalid_body"},
			{"account", ``, "invalid_body"},
			{"ip", `"203.0.113.0/24"`, "invalid_ip"},
			{"ip", `"fe80::1%eth0"`, "invalid_ip"},
			{"ip", `""`, "invalid_ip"},
			{"ip", `1`, "invalid_body"},
			{"ip", ``, "invalid_body"},
			{methods, `"totp"`, "invalid_body"},
			{methods, `[1]`, "invalid_body"},
			{methods, `["` + strings.Repeat("x", 65) + `"]`, "invalid_method"},
			{methods, `[` + strings.Repeat(`"x",`, 32) + `"x"]`, "invalid_method"},
		} {
			w := b.do(request{method: "POST", target: path, key: key, body: body(test.field, test.value)})
			if got := code(t, w); got != test.code || w.Code != httpstatus.Of(errata.Kind(test.code)) {
				t.Errorf("%s with %s %s: %d %s, want %s", path, test.field, test.value, w.Code, w.Body, test.code)
			}
		}
		if w := b.do(request{method: "POST", target: path, key: key, body: body("success", `"yes"`)}); path == outcomesPath && code(t, w) != "invalid_body" {
			t.Errorf("success as text: %s", w.Body)
		}
	}
	if w := b.do(request{method: "POST", target: outcomesPath, key: key, body: body("success", "")}); code(t, w) != "invalid_body" {
		t.Errorf("without success: %s", w.Body)
	}
	if len(b.signIns.told) != 0 {
		t.Errorf("told %+v", b.signIns.told)
	}
	w := b.do(request{method: "POST", target: outcomesPath, key: key, body: body("account", `"`+strings.Repeat("ł", 190)+`"`)})
	if w.Code != 200 || len(b.signIns.told) != 1 {
		t.Errorf("190 characters: %d %s", w.Code, w.Body)
	}
}
