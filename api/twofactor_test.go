package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/signin"
)

func containsFold(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// twoFactor is the setting in an answer.
func twoFactor(methods string, admin, client, popup int) string {
	return fmt.Sprintf(`{"authentications":[%s],"admin":%d,"client":%d,"show_popup":%d}`, methods, admin, client, popup)
}

func TestTwoFactor(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.SettingsGetTwoFactor, access.SettingsUpdateTwoFactor)
	const totp, email, sms = `"totp"`, `"email"`, `"sms"`
	story(t, b, key, twoFactorPath, []write{
		{"nothing is asked at first", ``, twoFactor("", 0, 0, 0), nil},
		{"an empty body changes nothing", `{}`, twoFactor("", 0, 0, 0), nil},
		{"unknown fields are ignored", `{"sms_gateway":{"x":[1]}}`, twoFactor("", 0, 0, 0), nil},
		{"with no method on, the switch reads as on", `{"admin":1}`, twoFactor("", 1, 0, 0), nil},
		{"admins alone", `{"admin":0}`, twoFactor("", 0, 0, 0), nil},
		{"clients alone", `{"client":1}`, twoFactor("", 0, 1, 0), nil},
		{"the other side stays", `{"admin":1}`, twoFactor("", 1, 1, 0), nil},
		{"show_popup is accepted", `{"show_popup":1}`, twoFactor("", 1, 1, 1), nil},
		{"booleans are taken", `{"admin":false,"client":true,"show_popup":false}`, twoFactor("", 0, 1, 0), nil},
		{"a method is switched on", `{"authentications":["totp"]}`, twoFactor(totp, 0, 1, 0), nil},
		{"a list that is not sent stays", `{"admin":1,"client":0}`, twoFactor(totp, 1, 0, 0), nil},
		{"the list sent replaces the stored one", `{"authentications":["email","sms"]}`, twoFactor(email+","+sms, 1, 0, 0), nil},
		{"an unknown key is ignored silently and stays off", `{"authentications":["sms","carrier-pigeon","","TOTP","totp"]}`, twoFactor(sms+","+totp, 1, 0, 0), nil},
		{"only unknown keys leave none on", `{"authentications":["carrier-pigeon"]}`, twoFactor("", 1, 0, 0), nil},
		{"a key counts once, in its order", `{"authentications":["sms","totp","sms","totp","email"]}`, twoFactor(sms+","+totp+","+email, 1, 0, 0), nil},
		{"every method is switched off", `{"authentications":[]}`, twoFactor("", 1, 0, 0), nil},
		{"all at once", `{"authentications":["totp"],"admin":1,"client":1,"show_popup":1}`, twoFactor(totp, 1, 1, 1), nil},
	})
	const number, body = "invalid_boolean", "invalid_body"
	refused(t, b, key, twoFactorPath, []refusal{
		{`{"admin":2}`, 422, number, "admin"},
		{`{"client":-1}`, 422, number, "client"},
		{`{"show_popup":1.5}`, 422, number, "show_popup"},
		{`{"admin":"1"}`, 400, body, "admin holds a JSON string"},
		{`{"client":null}`, 400, body, "client holds a JSON null"},
		{`{"show_popup":[1]}`, 400, body, "show_popup holds a JSON array"},
		{`{"admin":{"status":1}}`, 400, body, "admin holds a JSON object"},
		{`{"authentications":"totp"}`, 400, body, "authentications holds a JSON string"},
		{`{"authentications":null}`, 400, body, "authentications holds a JSON null"},
		{`{"authentications":{"totp":1}}`, 400, body, "authentications holds a JSON object"},
		{`{"authentications":["totp",1]}`, 400, body, "authentications[] holds a JSON number"},
		{`{"authentications":[null]}`, 400, body, "authentications[] holds a JSON null"},
		{`{"admin":0,"authentications":[["totp"]]}`, 400, body, "authentications[] holds a JSON array"},
		{`[]`, 400, body, "object"},
		{`null`, 400, body, "object"},
		{`{"admin":0`, 400, body, "JSON"},
	})
}

func TestTwoFactorMethods(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	methods := func() string { return b.ask(t, request{method: "GET", target: methodsPath, key: key}).data }
	entry := func(key, name string, on bool) string {
		return fmt.Sprintf(`{"key":%q,"name":%q,"enabled":%v,"installed":true}`, key, name, on)
	}
	all := func(totp, email, sms bool) string {
		return "[" + entry("totp", "Authenticator app", totp) + "," + entry("email", "Email", email) + "," + entry("sms", "Text message", sms) + "]"
	}
	if got := methods(); got != all(false, false, false) {
		t.Errorf("at first: %s", got)
	}
	b.ask(t, request{method: "PUT", target: twoFactorPath, key: key, body: `{"authentications":["sms","totp"]}`})
	if got := methods(); got != all(true, false, true) {
		t.Errorf("with two of them on: %s", got)
	}
	// The mail module is gone after a restart: e-mail is listed no more, is
	// not on, and cannot be switched on.
	b.ask(t, request{method: "PUT", target: twoFactorPath, key: key, body: `{"authentications":["email","totp"]}`})
	b.security.Modules = signin.BuiltIn(false)
	if got, want := methods(), "["+entry("totp", "Authenticator app", true)+"]"; got != want {
		t.Errorf("without mail: %s, want %s", got, want)
	}
	if got := b.ask(t, request{method: "GET", target: twoFactorPath, key: key}).data; got != twoFactor(`"totp"`, 0, 0, 0) {
		t.Errorf("without mail: %s", got)
	}
	for body, warns := range map[string][]string{
		`{}`:           nil,
		`{"admin":1}`:  {signin.WarnMailModule},
		`{"client":1}`: {signin.WarnMailModule},
	} {
		wrote := b.ask(t, request{method: "PUT", target: twoFactorPath, key: key, body: body})
		if diff := cmp.Diff(warns, wrote.codes); diff != "" {
			t.Errorf("without mail, PUT %s warns (-want +got):\n%s", body, diff)
		}
		b.ask(t, request{method: "PUT", target: twoFactorPath, key: key, body: `{"admin":0,"client":0}`})
	}
	if got := b.ask(t, request{method: "PUT", target: twoFactorPath, key: key, body: `{"authentications":["email"]}`}).data; got != twoFactor("", 0, 0, 0) {
		t.Errorf("without mail: %s", got)
	}
	if got, want := methods(), "["+entry("totp", "Authenticator app", false)+"]"; got != want {
		t.Errorf("with none on: %s, want %s", got, want)
	}
}

func TestLocalization(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.SettingsGetLocalization, access.SettingsUpdateLocalization)
	everything := b.key(t, access.Everything)
	story(t, b, key, localizationPath, []write{
		{"no module is chosen at first", ``, `{"ip_module":""}`, nil},
		{"an empty body changes nothing", `{}`, `{"ip_module":""}`, nil},
		{"an installed module", `{"ip_module":"mmdb"}`, `{"ip_module":"mmdb"}`, nil},
		{"other fields are ignored", `{"time_zone":"UTC"}`, `{"ip_module":"mmdb"}`, nil},
		{"none", `{"ip_module":""}`, `{"ip_module":""}`, nil},
	})
	refused(t, b, key, localizationPath, []refusal{
		{`{"ip_module":"nowhere"}`, 422, "invalid_ip_module", `"nowhere"`},
		{`{"ip_module":"MMDB"}`, 422, "invalid_ip_module", "mmdb, coarse"},
		{`{"ip_module":"` + strings.Repeat("x", 5000) + `"}`, 422, "invalid_ip_module", "…"},
		{`{"ip_module":null}`, 400, "invalid_body", "ip_module holds a JSON null"},
		{`{"ip_module":1}`, 400, "invalid_body", "ip_module holds a JSON number"},
		{`{"ip_module":["mmdb"]}`, 400, "invalid_body", "ip_module holds a JSON array"},
	})
	b.ask(t, request{method: "PUT", target: localizationPath, key: everything, body: `{"ip_module":"mmdb"}`})
	b.ask(t, request{method: "PUT", target: locationPath, key: everything, body: `{"client":{"status":1,"type":"city"}}`})
	story(t, b, key, localizationPath, []write{
		{"a module that tells less than is compared", `{"ip_module":"coarse"}`, `{"ip_module":"coarse"}`, []string{signin.WarnLocationType}},
		{"none while the check is on", `{"ip_module":""}`, `{"ip_module":""}`, []string{signin.WarnLocationModule}},
		{"one that tells all", `{"ip_module":"mmdb"}`, `{"ip_module":"mmdb"}`, nil},
	})
}

func TestSecuritySettingsInAnOutage(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	for _, kind := range []errata.Kind{errata.KindLogUnavailable, errata.KindLogFull} {
		b.security.kept.err = errata.Errorf(kind, "away")
		for _, path := range []string{twoFactorPath, methodsPath, locationPath, addressPath, localizationPath} {
			for _, method := range []string{"GET", "PUT"} {
				if path == methodsPath && method == "PUT" || kind == errata.KindLogFull && method == "GET" {
					continue
				}
				w := b.do(request{method: method, target: path, key: key})
				if w.Code != http.StatusServiceUnavailable || code(t, w) != string(kind) || w.Header().Get("Retry-After") == "" {
					t.Errorf("%s %s: %d %s, want 503 %s with Retry-After", method, path, w.Code, w.Body, kind)
				}
			}
		}
	}
}
