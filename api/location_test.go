package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/signin"
)

// place is a side of the location verification in an answer.
func place(status int, method, comparison string) string {
	return fmt.Sprintf(`{"status":%d,"method":%q,"type":%q}`, status, method, comparison)
}

func sides(admin, client string) string { return `{"admin":` + admin + `,"client":` + client + `}` }

func TestLocationVerification(t *testing.T) {
	b := newBench(t, nil)
	b.security.kept.now.Localization.IPModule = "mmdb"
	key := b.key(t, access.SettingsGetLocationVerification, access.SettingsUpdateLocationVerification)
	off := place(0, "Email", "country")
	story(t, b, key, locationPath, []write{
		{"off at first, by e-mail, by country", ``, sides(off, off), nil},
		{"an empty body changes nothing", `{}`, sides(off, off), nil},
		{"empty blocks change nothing", `{"admin":{},"client":{}}`, sides(off, off), nil},
		{"unknown fields are ignored", `{"admin":{"radius":1},"guest":{"status":1}}`, sides(off, off), nil},
		{"one side per request is allowed: admins", `{"admin":{"status":1,"method":"Email","type":"country"}}`, sides(place(1, "Email", "country"), off), nil},
		{"one side per request is allowed: clients", `{"client":{"status":1,"method":"Email"}}`, sides(place(1, "Email", "country"), place(1, "Email", "country")), nil},
		{"both sides need both blocks", `{"admin":{"status":0},"client":{"status":0}}`, sides(off, off), nil},
		{"type is optional", `{"client":{"status":1,"method":"sms"}}`, sides(off, place(1, "sms", "country")), nil},
		{"what is not sent stays", `{"client":{"type":"region"}}`, sides(off, place(1, "sms", "region")), nil},
		{"the other side stays", `{"admin":{"type":"city"}}`, sides(place(0, "Email", "city"), place(1, "sms", "region")), nil},
		{"method and type in any case", `{"admin":{"method":"SMS","type":"Country"},"client":{"method":"email"}}`, sides(place(0, "sms", "country"), place(1, "Email", "region")), nil},
		{"booleans are taken", `{"admin":{"status":true},"client":{"status":false}}`, sides(place(1, "sms", "country"), place(0, "Email", "region")), nil},
	})
	const number, body, method, kind = "invalid_boolean", "invalid_body", "invalid_method", "invalid_verification_type"
	refused(t, b, key, locationPath, []refusal{
		{`{"admin":{"method":"totp"}}`, 422, method, "admin.method"},
		{`{"client":{"method":"carrier-pigeon"}}`, 422, method, "client.method"},
		{`{"client":{"method":""}}`, 422, method, "Email, sms"},
		{`{"admin":{"status":0},"client":{"status":1,"method":"totp"}}`, 422, method, "client.method"},
		{`{"admin":{"type":"planet"}}`, 422, kind, "admin.type"},
		{`{"admin":{"type":""}}`, 422, kind, "country, region, city"},
		{`{"admin":{"status":0},"client":{"type":"planet"}}`, 422, kind, "client.type"},
		{`{"admin":{"type":"` + strings.Repeat("ä", 5000) + `"}}`, 422, kind, "…"},
		{`{"admin":{"status":2}}`, 422, number, "admin.status"},
		{`{"client":{"status":-1}}`, 422, number, "client.status"},
		{`{"admin":{"status":"on"}}`, 400, body, "admin.status holds a JSON string"},
		{`{"admin":{"status":null}}`, 400, body, "admin.status holds a JSON null"},
		{`{"admin":{"method":1}}`, 400, body, "admin.method holds a JSON number"},
		{`{"client":{"type":["country"]}}`, 400, body, "client.type holds a JSON array"},
		{`{"admin":1}`, 400, body, "admin holds a JSON number"},
		{`{"admin":null}`, 400, body, "admin holds a JSON null"},
		{`{"client":[{"status":1}]}`, 400, body, "client holds a JSON array"},
		{`{"admin":{"status":0},"client":"on"}`, 400, body, "client holds a JSON string"},
		{`[]`, 400, body, "object"},
		{`{"admin":{"status":1}`, 400, body, "JSON"},
	})
}

// TestLocationWithoutMail: the Email method needs a configured mail module. What
// is in force is no write, so that it can be sent again.
func TestLocationWithoutMail(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	b.ask(t, request{method: "PUT", target: locationPath, key: key, body: `{"admin":{"status":1}}`})
	b.security.Modules = signin.BuiltIn(false)
	const mail = "mail_module_required"
	refused(t, b, key, locationPath, []refusal{
		{`{"client":{"status":1,"method":"Email","type":"country"}}`, 422, mail, "client.method"},
		{`{"client":{"status":1}}`, 422, mail, "client.method"},
		{`{"client":{"status":1,"method":"email"}}`, 422, mail, "client.method"},
		{`{"admin":{"status":0},"client":{"status":1,"method":"Email"}}`, 422, mail, "client.method"},
		{`{"client":{"method":"sms"}}`, 422, "invalid_method", "sms"},
		{`{"client":{"method":"totp"}}`, 422, "invalid_method", "configure a mail module"},
		{`{"client":{"type":"city"}}`, 422, "invalid_verification_type", "city"},
	})
	missing := []string{signin.WarnLocationModule, signin.WarnMailModule}
	story(t, b, key, locationPath, []write{
		{"what does not send a code is not refused", `{"client":{"type":"country","status":0}}`, "", missing},
		{"what is in force can be sent again", `{"admin":{"status":1,"method":"Email","type":"country"},"client":{"status":0,"method":"Email","type":"country"}}`, "", missing},
		{"in any case", `{"admin":{"method":"email"},"client":{"method":"EMAIL"}}`, "", missing},
		{"nobody is kept from switching off", `{"admin":{"status":0}}`, sides(place(0, "Email", "country"), place(0, "Email", "country")), nil},
	})
	b.security.kept.now.Location.Client.Method = "sms" // of a plug-in that is gone
	refused(t, b, key, locationPath, []refusal{{`{"client":{"method":"Email"}}`, 422, mail, "client.method"}})
}

// TestLocationWithoutModule: switching it on works, with a warning.
func TestLocationWithoutModule(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	missing := []string{signin.WarnLocationModule}
	story(t, b, key, locationPath, []write{
		{"no module is chosen", `{"admin":{"status":1}}`, sides(place(1, "Email", "country"), place(0, "Email", "country")), missing},
		{"once for both sides", `{"client":{"status":1}}`, sides(place(1, "Email", "country"), place(1, "Email", "country")), missing},
		{"switched off there is nothing to say", `{"admin":{"status":0},"client":{"status":0}}`, sides(place(0, "Email", "country"), place(0, "Email", "country")), nil},
	})
	finer := []refusal{
		{`{"admin":{"type":"region"}}`, 422, "invalid_verification_type", "country"},
		{`{"client":{"type":"city"}}`, 422, "invalid_verification_type", "country"},
	}
	refused(t, b, key, locationPath, finer)
	b.security.kept.now.Localization.IPModule = "coarse"
	refused(t, b, key, locationPath, finer)
	story(t, b, key, locationPath, []write{
		{"a module is chosen", `{"admin":{"status":1}}`, sides(place(1, "Email", "country"), place(0, "Email", "country")), nil},
	})
	b.security.kept.now.Localization.IPModule = "removed"
	wrote := b.ask(t, request{method: "PUT", target: locationPath, key: key, body: `{"admin":{"status":1}}`})
	if len(wrote.messages) != 1 || !strings.Contains(wrote.messages[0], `"removed"`) {
		t.Errorf("a module that is gone: %q", wrote.messages)
	}
}
