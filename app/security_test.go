package app_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/errata-log/errata/app"
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

// TestSecurityOfAService: settings can be read and outlive a restart. The modules are
// those of the options; the default is the code generator alone.
func TestSecurityOfAService(t *testing.T) {
	o := testOptions(t)
	a := build(t, o)
	stop := run(t, a)
	wantAnswer(t, a, "GET", "security/two-factor/methods", "", `{"data":[{"key":"totp","name":"Authenticator app","enabled":false,"installed":true}]}`)
	wantAnswer(t, a, "PUT", "security/two-factor", `{"authentications":["email","totp"],"admin":1}`, `{"data":{"authentications":["totp"],"admin":1,"client":0,"show_popup":0}}`)
	wantAnswer(t, a, "PUT", "security/ip-verification", `{"client":{"status":1,"whitelist":"10.0.0.0/8\r\n::1"}}`, `"client":{"status":1,"whitelist":"10.0.0.0/8\n::1"}`)
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
	run(t, a)
	wantAnswer(t, a, "GET", "security/two-factor", "", `{"data":{"authentications":["totp"],"admin":1,"client":0,"show_popup":0}}`)
	wantAnswer(t, a, "GET", "security/ip-verification", "", `"client":{"status":1,"whitelist":"10.0.0.0/8\n::1"}`)
	wantAnswer(t, a, "GET", "security/two-factor/methods", "", `{"key":"email","name":"Email","enabled":false,"installed":true}`)
	wantAnswer(t, a, "PUT", "security/location-verification", `{"admin":{"status":1}}`, `"code":"location_module_missing"`)
	wantAnswer(t, a, "PUT", "localization", `{"ip_module":"mmdb"}`, `{"data":{"ip_module":"mmdb"}}`)
	wantAnswer(t, a, "PUT", "security/location-verification", `{"client":{"status":1}}`, `{"data":{"admin":{"status":1,"method":"Email","type":"country"},"client":{"status":1,"method":"Email","type":"country"}}}`)
}
