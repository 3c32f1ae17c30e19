package api_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/signin"
)

// quoted is a text as JSON.
func quoted(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // every text has a form in JSON
	}
	return string(quoted)
}

// exempt is a side of the address verification in an answer.
func exempt(status int, lines ...string) string {
	return fmt.Sprintf(`{"status":%d,"whitelist":%s}`, status, quoted(strings.Join(lines, "\n")))
}

// listed is the body that sets a side's whitelist.
func listed(side, whitelist string) string {
	return fmt.Sprintf(`{%q:{"whitelist":%s}}`, side, quoted(whitelist))
}

func TestAddressVerification(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.SettingsGetIPVerification, access.SettingsUpdateIPVerification)
	off, warned := exempt(0), []string{signin.WarnCallerNotExempt}
	var long []string
	for i := range signin.MaxWhitelist {
		long = append(long, fmt.Sprintf("10.%d.%d.1", i/250, i%250))
	}
	story(t, b, key, addressPath, []write{
		{"off and empty at first", ``, sides(off, off), nil},
		{"an empty body changes nothing", `{}`, sides(off, off), nil},
		{"empty blocks change nothing", `{"admin":{},"client":{}}`, sides(off, off), nil},
		{"one side alone: clients", `{"client":{"status":1,"whitelist":"203.0.113.9"}}`, sides(off, exempt(1, "203.0.113.9")), nil},
		{"one side alone: admins, from elsewhere", `{"admin":{"status":1,"whitelist":"203.0.113.9"}}`, sides(exempt(1, "203.0.113.9"), exempt(1, "203.0.113.9")), warned},
		{"the caller is on the list", `{"admin":{"whitelist":"192.0.2.0/24"}}`, sides(exempt(1, "192.0.2.0/24"), exempt(1, "203.0.113.9")), nil},
		{"the list is replaced, not merged", `{"client":{"whitelist":"198.51.100.1"}}`, sides(exempt(1, "192.0.2.0/24"), exempt(1, "198.51.100.1")), nil},
		{"read and append", `{"client":{"whitelist":"198.51.100.1\n198.51.100.2"}}`, sides(exempt(1, "192.0.2.0/24"), exempt(1, "198.51.100.1", "198.51.100.2")), nil},
		{"a list that is not sent stays", `{"client":{"status":0}}`, sides(exempt(1, "192.0.2.0/24"), exempt(0, "198.51.100.1", "198.51.100.2")), nil},
		{"an empty list", `{"client":{"whitelist":""}}`, sides(exempt(1, "192.0.2.0/24"), off), nil},
		{"who has changed nothing of admins is not warned", `{"client":{"whitelist":" \n\r\n\t"}}`, sides(exempt(1, "192.0.2.0/24"), off), nil},
		{"the caller takes its own line away", `{"admin":{"whitelist":""}}`, sides(exempt(1), off), warned},
		{"off for admins", `{"admin":{"status":false}}`, sides(off, off), nil},
		{"LF and CRLF, blanks dropped, order kept", listed("client", "203.0.113.9\r\n\n  10.0.0.0/8 \r\n2001:db8::/32\n\n10.0.0.1\n"), sides(off, exempt(0, "203.0.113.9", "10.0.0.0/8", "2001:db8::/32", "10.0.0.1")), nil},
		{"normal form", listed("client", "::ffff:192.0.2.1\n::FFFF:10.0.0.0/104\n10.1.2.3/8\n2001:DB8:0::1\n0.0.0.0/0\n::/0\n192.0.2.2/32"), sides(off, exempt(0, "192.0.2.1", "10.0.0.0/8", "10.0.0.0/8", "2001:db8::1", "0.0.0.0/0", "::/0", "192.0.2.2")), nil},
		{"as many lines as there may be", listed("client", strings.Join(long, "\n")), sides(off, exempt(0, long...)), nil},
	})
	const number, body, list = "invalid_boolean", "invalid_body", "invalid_whitelist"
	refused(t, b, key, addressPath, []refusal{
		{listed("admin", strings.Join(long, "\n")+"\n192.0.2.1"), 422, list, "line 10001"},
		{listed("admin", "10.0.0.1\n\nlocalhost"), 422, list, `admin.whitelist: Line 3, "localhost"`},
		{listed("client", "10.0.0.256"), 422, list, `client.whitelist: Line 1, "10.0.0.256"`},
		{`{"admin":{"status":1,"whitelist":"10.0.0.1"},"client":{"whitelist":"10.0.0.1\nx"}}`, 422, list, `Line 2, "x"`},
		{listed("admin", "10.0.0.01"), 422, list, "10.0.0.01"},
		{listed("admin", "10.0.0.0/08"), 422, list, "10.0.0.0/08"},
		{listed("admin", "10.0.0.0/33"), 422, list, "10.0.0.0/33"},
		{listed("admin", "2001:db8::/129"), 422, list, "/129"},
		{listed("admin", "fe80::1%eth0"), 422, list, "fe80::1%eth0"},
		{listed("admin", "fe80::%eth0/64"), 422, list, "fe80::%eth0/64"},
		{listed("admin", "::ffff:10.0.0.0/90"), 422, list, "/90"},
		{listed("admin", "10.0.0.1,10.0.0.2"), 422, list, "10.0.0.1,10.0.0.2"},
		{listed("admin", "10.0.0.1 10.0.0.2"), 422, list, "10.0.0.1 10.0.0.2"},
		{listed("admin", "10.0.0.1-10.0.0.9"), 422, list, "10.0.0.1-10.0.0.9"},
		{listed("admin", "10.0.0.*"), 422, list, "10.0.0.*"},
		{listed("admin", "10.0.0.1\x00"), 422, list, "10.0.0.1"},
		{listed("admin", "10.0.0.1 # office"), 422, list, "office"},
		{listed("admin", "10.0.0.1\r10.0.0.2"), 422, list, "10.0.0.2"},
		{listed("admin", strings.Repeat("ä", 5000)), 422, list, "…"},
		{`{"admin":{"status":2}}`, 422, number, "admin.status"},
		{`{"admin":{"status":null}}`, 400, body, "admin.status holds a JSON null"},
		{`{"client":{"status":"1"}}`, 400, body, "client.status holds a JSON string"},
		{`{"client":{"whitelist":["10.0.0.1"]}}`, 400, body, "client.whitelist holds a JSON array"},
		{`{"client":{"whitelist":null}}`, 400, body, "client.whitelist holds a JSON null"},
		{`{"client":{"whitelist":10}}`, 400, body, "client.whitelist holds a JSON number"},
		{`{"admin":"10.0.0.1"}`, 400, body, "admin holds a JSON string"},
		{`{"client":null}`, 400, body, "client holds a JSON null"},
		{`{"admin":{"whitelist":"10.0.0.1"}`, 400, body, "JSON"},
	})
	golden(t, "settings_not_a_whitelist", b.do(request{method: "PUT", target: addressPath, key: key, body: listed("admin", "10.0.0.1\nlocalhost"), headers: []string{"X-Request-Id: req-1"}}))
	golden(t, "settings_not_exempt", b.do(request{method: "PUT", target: addressPath, key: key, body: `{"admin":{"status":1},"client":{"whitelist":""}}`, headers: []string{"X-Request-Id: req-1"}}))
}

// TestAddressesWithoutMail: nobody can be asked, and the answer says so for
// either side. The caller learns that its address will be asked later.
func TestAddressesWithoutMail(t *testing.T) {
	b := newBench(t, nil)
	b.security.Modules = signin.BuiltIn(false)
	key := b.key(t, access.Everything)
	off, mail := exempt(0), []string{signin.WarnMailModule}
	story(t, b, key, addressPath, []write{
		{"while it is off there is nothing to say", `{"client":{"status":0}}`, sides(off, off), nil},
		{"clients", `{"client":{"status":1}}`, sides(off, exempt(1)), mail},
		{"admins, from an address on the list", `{"admin":{"status":1,"whitelist":"192.0.2.1"},"client":{"status":0}}`, sides(exempt(1, "192.0.2.1"), off), mail},
		{"once for both sides", `{"client":{"status":1}}`, sides(exempt(1, "192.0.2.1"), exempt(1)), mail},
		{"whatever is changed", `{}`, "", mail},
		{"off again", `{"client":{"status":0},"admin":{"status":0,"whitelist":""}}`, sides(off, off), nil},
	})
	wrote := b.ask(t, request{method: "PUT", target: addressPath, key: key, body: `{"admin":{"status":1}}`})
	if diff := cmp.Diff([]string{signin.WarnCallerNotExempt, signin.WarnMailModule}, wrote.codes); diff != "" {
		t.Fatalf("from elsewhere (-want +got):\n%s", diff)
	}
	if !strings.Contains(wrote.messages[0], "192.0.2.1") || !strings.Contains(wrote.messages[0], "as soon as a code can be sent") {
		t.Errorf("the caller learns %q", wrote.messages[0])
	}
	b.security.Modules = everyModule()
	wrote = b.ask(t, request{method: "PUT", target: addressPath, key: key, body: `{"admin":{"status":1}}`})
	if len(wrote.messages) != 1 || strings.Contains(wrote.messages[0], "as soon as") {
		t.Errorf("with a mail module: %q", wrote.messages)
	}
}

// TestNotExempt: the warning names the caller's address, which only a trusted
// proxy can change.
func TestNotExempt(t *testing.T) {
	b := newBench(t, func(c *api.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")} })
	key := b.key(t, access.Everything)
	for _, c := range []struct{ from, header, whitelist, names string }{
		{"198.51.100.7:99", "", "", "198.51.100.7"},
		{"198.51.100.7:99", "", "198.51.100.0/28", ""},
		{"[2001:db8::7]:99", "", "198.51.100.0/24", "2001:db8::7"},
		{"[2001:db8::7]:99", "", "2001:db8::/32", ""},
		{"[::ffff:198.51.100.7]:99", "", "198.51.100.7", ""},
		{"192.0.2.1:99", "X-Forwarded-For: 203.0.113.5", "192.0.2.1", "203.0.113.5"},
		{"192.0.2.1:99", "X-Forwarded-For: 203.0.113.5", "203.0.113.5", ""},
		{"198.51.100.7:99", "X-Forwarded-For: 203.0.113.5", "203.0.113.5", "198.51.100.7"},
		{"@", "", "0.0.0.0/0\n::/0", "not known"},
	} {
		var headers []string
		if c.header != "" {
			headers = append(headers, c.header)
		}
		a := b.ask(t, request{method: "PUT", target: addressPath, key: key, from: c.from, headers: headers,
			body: `{"admin":{"status":1,"whitelist":` + quoted(c.whitelist) + `}}`})
		if c.names == "" && len(a.codes) > 0 || c.names != "" && (len(a.messages) != 1 || !strings.Contains(a.messages[0], c.names)) {
			t.Errorf("from %s %s with %q: %q, want it to name %q", c.from, c.header, c.whitelist, a.messages, c.names)
		}
	}
}

// TestSidesAreIndependent: no sequence of writes to one side, taken or
// refused, ever changes the other.
func TestSidesAreIndependent(t *testing.T) {
	b := newBench(t, nil)
	b.security.kept.now.Localization.IPModule = "mmdb"
	key := b.key(t, access.Everything)
	blocks := map[string][]string{
		locationPath: {`{"status":1}`, `{"status":0}`, `{"method":"sms"}`, `{"method":"Email"}`, `{"type":"city"}`, `{"type":"country"}`,
			`{"status":1,"method":"totp"}`, `{"type":"planet"}`, `{}`, `1`},
		addressPath: {`{"status":1}`, `{"status":0}`, `{"whitelist":""}`, `{"whitelist":"10.0.0.0/8\n::1"}`, `{"whitelist":"192.0.2.1"}`,
			`{"status":0,"whitelist":"x"}`, `{"status":2}`, `{}`, `null`},
	}
	type shown struct{ Admin, Client json.RawMessage }
	read := func(t *rapid.T, path string) (s shown) {
		w := b.do(request{method: "GET", target: path, key: key})
		var envelope struct{ Data *shown }
		envelope.Data = &s
		if err := json.Unmarshal(w.Body.Bytes(), &envelope); err != nil || w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		return s
	}
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.SampledFrom([]string{locationPath, addressPath}).Draw(t, "setting")
		side := rapid.SampledFrom([]string{"admin", "client"}).Draw(t, "side")
		before := read(t, path)
		for _, block := range rapid.SliceOfN(rapid.SampledFrom(blocks[path]), 1, 6).Draw(t, "blocks") {
			b.do(request{method: "PUT", target: path, key: key, body: fmt.Sprintf(`{%q:%s}`, side, block)})
			after := read(t, path)
			if side == "admin" {
				after.Admin = before.Admin
			} else {
				after.Client = before.Client
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Fatalf("%s of %s changed the other side:\n%s", block, side, diff)
			}
		}
	})
}

// FuzzSecurityBodies: every body is accepted or refused with the right code,
// and the setting after it can be read and sent again.
func FuzzSecurityBodies(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `{"admin":1,"authentications":["totp"]}`, `{"admin":{"status":1,"method":"Email","type":"city"},"client":{}}`,
		`{"admin":{"whitelist":"10.0.0.1\r\n::/0"}}`, `{"ip_module":"mmdb"}`, `{"admin":null}`, `{"client":{"status":[]}}`, `[`, `{"admin": { "status" : true } }`,
	} {
		f.Add(seed)
	}
	b := newBench(f, withReceivers)
	key := b.key(f, access.Everything)
	f.Fuzz(func(t *testing.T, body string) {
		for _, path := range []string{twoFactorPath, locationPath, addressPath, localizationPath} {
			w := b.do(request{method: "PUT", target: path, key: key, body: body})
			if w.Code != 200 && w.Code != 400 && w.Code != 422 && w.Code != 413 {
				t.Fatalf("PUT %s %q: %d %s", path, body, w.Code, w.Body)
			}
			read := b.do(request{method: "GET", target: path, key: key})
			var envelope struct{ Data json.RawMessage }
			if err := json.Unmarshal(read.Body.Bytes(), &envelope); err != nil || read.Code != 200 {
				t.Fatalf("GET %s after %q: %d %s", path, body, read.Code, read.Body)
			}
			again := b.do(request{method: "PUT", target: path, key: key, body: string(envelope.Data)})
			var same struct{ Data json.RawMessage }
			if err := json.Unmarshal(again.Body.Bytes(), &same); err != nil || string(same.Data) != string(envelope.Data) {
				t.Fatalf("PUT %s of what was read, %s: %d %s", path, envelope.Data, again.Code, again.Body)
			}
		}
	})
}
