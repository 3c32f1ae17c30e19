package app_test

import (
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/signin"
	"github.com/errata-log/errata/signin/familiar"
	"github.com/errata-log/errata/test/smtptest"
)

// wantSignIn asks and wants the answer to be 200 with the text.
func wantSignIn(t *testing.T, a *app.App, path, body, want string) {
	t.Helper()
	status, got := request(t, "POST", a.Welcome().URL+"/api/v1/sign-in/"+path, key(t, a.Welcome().AdminKeyFile), body)
	if status != http.StatusOK || !strings.Contains(got, want) {
		t.Errorf("POST %s %s: %d %s, want %s", path, body, status, got, want)
	}
}

// TestSignInsOfAService: the service asks for a code at an unfamiliar place and address
// until a sign-in from there succeeds. That counts for its own side only, and also after
// a restart.
func TestSignInsOfAService(t *testing.T) {
	o := mailOptions(t, smtptest.New(t, nil))
	saveCities(t, filepath.Join(o.Data, "geo", "cities.mmdb"))
	a := build(t, o)
	stop := run(t, a)
	const (
		ada      = `{"side":"client","account":"ada@example.org","ip":"1.0.0.9","methods":["totp"]`
		nobody   = `"checks":[],"remind":false,"warnings":[],`
		location = `{"kind":"location","methods":["Email"],"reason":"first_sign_in"}`
		address  = `{"kind":"address","methods":["Email"],"reason":"first_sign_in"}`
	)
	wantSignIn(t, a, "evaluate", ada+"}", nobody+`"place":""`)
	wantAnswer(t, a, "PUT", "localization", `{"ip_module":"mmdb"}`, "mmdb")
	wantAnswer(t, a, "PUT", "security/location-verification", `{"client":{"status":1,"type":"city"}}`, `"client":{"status":1`)
	wantAnswer(t, a, "PUT", "security/ip-verification", `{"client":{"status":1},"admin":{"status":1,"whitelist":"127.0.0.1"}}`, `"client":{"status":1`)
	wantAnswer(t, a, "PUT", "security/two-factor", `{"authentications":["totp"],"client":1}`, `"client":1`)
	wantSignIn(t, a, "evaluate", ada+"}", `"checks":[{"kind":"two_factor","methods":["totp"],"reason":"set_up"},`+location+","+address+`],"remind":false,"warnings":[],"place":"AU"`)
	wantSignIn(t, a, "outcomes", ada+`,"success":false}`, `{"data":{"recorded":true}}`)
	wantSignIn(t, a, "evaluate", ada+"}", location+","+address)
	wantAnswer(t, a, "PUT", "security/two-factor", `{"client":0}`, `"client":0`)
	wantSignIn(t, a, "outcomes", ada+`,"success":true,"methods_used":["totp"]}`, `{"data":{"recorded":true}}`)
	wantSignIn(t, a, "evaluate", ada+"}", nobody+`"place":"AU"`)
	for _, outcome := range []string{"success", "failure"} {
		awaitMetric(t, a, `errata_signins_total{outcome="`+outcome+`",side="client"} 1`)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}

	a = build(t, o)
	run(t, a)
	wantSignIn(t, a, "evaluate", ada+"}", nobody+`"place":"AU"`)
	wantSignIn(t, a, "evaluate", strings.Replace(ada, "1.0.0.9", "1.0.0.8", 1)+"}", `"checks":[{"kind":"address","methods":["Email"],"reason":"unfamiliar"}]`)
	wantSignIn(t, a, "evaluate", strings.Replace(ada, "1.0.0.9", "198.51.100.7", 1)+"}", `"checks":[{"kind":"location","methods":["Email"],"reason":"unknown"},{"kind":"address","methods":["Email"],"reason":"unfamiliar"}]`)
	wantSignIn(t, a, "evaluate", strings.Replace(ada, "client", "admin", 1)+"}", `"checks":[`+address+`]`)
}

// TestFamiliarIsMadeFromTheLog: an outcome that was on the log before a crash is known
// after the next start. So are all outcomes when the bucket is lost.
func TestFamiliarIsMadeFromTheLog(t *testing.T) {
	o := mailOptions(t, smtptest.New(t, nil))
	o.AdminRateLimit = 0
	a := build(t, o)
	stop := run(t, a)
	wantAnswer(t, a, "PUT", "security/ip-verification", `{"client":{"status":1}}`, `"client":{"status":1`)
	wantSignIn(t, a, "outcomes", `{"side":"client","account":"ada","ip":"203.0.113.9","success":1}`, "recorded")
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	for _, lose := range []bool{false, true} {
		offline(t, o, func(log eventlog.Log) {
			if lose {
				if err := log.JetStream.DeleteKeyValue(t.Context(), migrations.FamiliarBucket("")); err != nil {
					t.Fatal(err)
				}
				return
			}
			if _, err := eventlog.AppendSignIn(t.Context(), log, eventlog.SignInOutcome, familiar.Outcome{
				Account: familiar.Key(signin.Client, "bob"), Side: signin.Client, At: time.Now().UnixMilli(),
				Address: netip.MustParseAddr("203.0.113.9"), Success: true,
			}); err != nil {
				t.Fatal(err)
			}
		})
		a = build(t, o)
		stop = run(t, a)
		for _, account := range []string{"ada", "bob"} {
			wantKnown(t, a, account)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// wantKnown waits until the account needs no code.
func wantKnown(t *testing.T, a *app.App, account string) {
	t.Helper()
	body := `{"side":"client","account":"` + account + `","ip":"203.0.113.9"}`
	var got string
	for began := time.Now(); time.Since(began) < 20*time.Second; {
		_, got = request(t, "POST", a.Welcome().URL+"/api/v1/sign-in/evaluate", key(t, a.Welcome().AdminKeyFile), body)
		if strings.Contains(got, `"checks":[]`) {
			return
		}
	}
	t.Errorf("%s is asked: %s", account, got)
}

// offline changes the log of a stopped service.
func offline(t *testing.T, o app.Options, do func(eventlog.Log)) {
	t.Helper()
	n, err := engine.StartNATS(t.Context(), engine.NATSConfig{StoreDir: filepath.Join(o.Data, "nats"), MaxStore: 2 << 30})
	if err != nil {
		t.Fatal(err)
	}
	do(eventlog.Log{NATS: n.Conn(), JetStream: n.JetStream(), Stream: migrations.StreamName("")})
	if err := n.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}
