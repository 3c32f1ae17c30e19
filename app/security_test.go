package app_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/signin/smtp"
	"github.com/errata-log/errata/test/smtptest"
)

const securityPath = "/api/v1/admin/settings/"

// wantAnswer asks and wants the answer to be 200 with the text.
func wantAnswer(t *testing.T, a *app.App, method, path, body, want string) {
	t.Helper()
	status, got := request(t, method, a.Welcome().URL+securityPath+path, key(t, a.Welcome().AdminKeyFile), body)
	if status != http.StatusOK || !strings.Contains(got, want) {
		t.Errorf("%s %s %s: %d %s, want %s", method, path, body, status, got, want)
	}
}

// wantPutBack puts back what each setting answers: it is taken and nothing
// changes.
func wantPutBack(t *testing.T, a *app.App) {
	t.Helper()
	ask := func(method, path, body string, to any) {
		status, text := request(t, method, a.Welcome().URL+path, key(t, a.Welcome().AdminKeyFile), body)
		if err := json.Unmarshal([]byte(text), to); err != nil || status != http.StatusOK {
			t.Errorf("%s %s %s: %d %s", method, path, body, status, text)
		}
	}
	var document struct {
		Paths map[string]map[string]any
	}
	ask("GET", "/api/v1/openapi.json", "", &document)
	settings := 0
	for path, operations := range document.Paths {
		if operations["put"] == nil {
			continue
		}
		settings++
		var read, put, again struct{ Data json.RawMessage }
		ask("GET", path, "", &read)
		ask("PUT", path, string(read.Data), &put)
		ask("GET", path, "", &again)
		if string(put.Data) != string(read.Data) || string(again.Data) != string(read.Data) {
			t.Errorf("PUT %s of %s answers %s, and GET then %s", path, read.Data, put.Data, again.Data)
		}
	}
	if settings < 5 {
		t.Errorf("%d settings were put back", settings)
	}
}

// TestSecurityOfAService: settings can be read, put back and outlive a restart. The
// modules are those of the options; the default is the code generator alone.
func TestSecurityOfAService(t *testing.T) {
	o := testOptions(t)
	a := build(t, o)
	stop := run(t, a)
	wantPutBack(t, a) // right after the first start
	wantAnswer(t, a, "GET", "security/two-factor/methods", "", `{"data":[{"key":"totp","name":"Authenticator app","enabled":false,"installed":true}]}`)
	wantAnswer(t, a, "PUT", "security/two-factor", `{"authentications":["email","totp"],"admin":1}`, `{"data":{"authentications":["totp"],"admin":1,"client":0,"show_popup":0}}`)
	wantAnswer(t, a, "PUT", "security/ip-verification", `{"client":{"status":1,"whitelist":"10.0.0.0/8\r\n::1"}}`, `"client":{"status":1,"whitelist":"10.0.0.0/8\n::1"}`)
	wantMailMissing(t, a)
	for path, body := range map[string]string{
		"security/location-verification": `{"admin":{"status":1}}`,
		"localization":                   `{"ip_module":"mmdb"}`,
	} {
		if status, got := request(t, "PUT", a.Welcome().URL+securityPath+path, key(t, a.Welcome().AdminKeyFile), body); status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %s", path, status, got)
		}
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}

	o.MailModule, o.SMTP = "smtp", smtptest.New(t, nil).Config()
	saveCities(t, filepath.Join(o.Data, "geo", "cities.mmdb"))
	a = build(t, o)
	stop = run(t, a)
	wantAnswer(t, a, "GET", "security/two-factor", "", `{"data":{"authentications":["totp"],"admin":1,"client":0,"show_popup":0}}`)
	wantAnswer(t, a, "GET", "security/ip-verification", "", `"client":{"status":1,"whitelist":"10.0.0.0/8\n::1"}`)
	wantAnswer(t, a, "GET", "security/two-factor/methods", "", `{"key":"email","name":"Email","enabled":false,"installed":true}`)
	wantAnswer(t, a, "PUT", "security/location-verification", `{"admin":{"status":1}}`, `"code":"location_module_missing"`)
	wantAnswer(t, a, "PUT", "localization", `{"ip_module":"mmdb"}`, `{"data":{"ip_module":"mmdb"}}`)
	wantAnswer(t, a, "PUT", "security/location-verification", `{"client":{"status":1}}`, `{"data":{"admin":{"status":1,"method":"Email","type":"country"},"client":{"status":1,"method":"Email","type":"country"}}}`)
	wantPutBack(t, a)
	if err := stop(); err != nil {
		t.Fatal(err)
	}

	// The modules are gone: what they were set up for stays and can be put back.
	o.MailModule, o.SMTP = "", smtp.Config{}
	if err := os.Remove(filepath.Join(o.Data, "geo", "cities.mmdb")); err != nil {
		t.Fatal(err)
	}
	a = build(t, o)
	run(t, a)
	wantAnswer(t, a, "GET", "localization", "", `{"data":{"ip_module":"mmdb"}}`)
	wantPutBack(t, a)
	wantAnswer(t, a, "PUT", "security/location-verification", `{"client":{"status":1}}`, `"code":"mail_module_missing"`)
}

// wantMailMissing is of a service without a mail module: the check of addresses is
// on, and both the setting and the evaluation of a sign-in say that it asks nobody.
func wantMailMissing(t *testing.T, a *app.App) {
	t.Helper()
	const missing = `"code":"mail_module_missing"`
	wantAnswer(t, a, "PUT", "security/ip-verification", `{"admin":{"status":1}}`, missing)
	for _, side := range []string{"admin", "client"} {
		wantAnswer(t, a, "PUT", "security/ip-verification", `{"`+side+`":{}}`, missing)
		status, got := request(t, "POST", a.Welcome().URL+"/api/v1/sign-in/evaluate", key(t, a.Welcome().AdminKeyFile),
			`{"side":"`+side+`","account":"ann","ip":"192.0.2.7"}`)
		if status != http.StatusOK || !strings.Contains(got, `"checks":[]`) || !strings.Contains(got, missing) {
			t.Errorf("a sign-in of the side %s: %d %s", side, status, got)
		}
	}
	wantAnswer(t, a, "PUT", "security/ip-verification", `{"admin":{"status":0}}`, missing) // clients are still asked
}
