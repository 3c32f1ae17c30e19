package api_test

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
)

const keysPath = "/api/v1/admin/keys"

type madeKey struct {
	Data struct {
		ID, Key, DSN, State string
		ExpiresAt           *time.Time `json:"expires_at"`
		Project             uint64
		Projects            []uint64
	}
}

// post creates a key through the API and returns the answer.
func (b *bench) post(t *testing.T, key, body string) (madeKey, int, string) {
	t.Helper()
	w := b.do(request{method: "POST", target: keysPath, key: key, body: body, headers: []string{"Content-Type: application/json"}})
	var made madeKey
	if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil {
		t.Fatalf("%s: %v\n%s", body, err, w.Body)
	}
	return made, w.Code, code(t, w)
}

func TestKeysFromMakingToRevoking(t *testing.T) {
	b := newBench(t, func(c *api.Config) { c.PublicURL = "https://errata.example:8443/e/" })
	first := b.key(t, access.Everything)

	w := b.do(request{method: "POST", target: keysPath, key: first,
		body: `{"name": "shop", "kind": "ing", "unknown": [1]}`, headers: []string{"Content-Type: application/json; charset=utf-8"}})
	golden(t, "key_created", w)
	var ingest madeKey
	if err := json.Unmarshal(w.Body.Bytes(), &ingest); err != nil {
		t.Fatal(err)
	}
	sender, err := b.keys.Authenticate(ingest.Data.Key)
	if err != nil || !sender.Allows(access.EventsWrite) || sender.Project != 1 {
		t.Errorf("the new ingest key: got %+v, %v", sender, err)
	}
	if want := "https://" + sender.PublicKey + "@errata.example:8443/e/1"; ingest.Data.DSN != want {
		t.Errorf("DSN: got %s, want %s", ingest.Data.DSN, want)
	}

	reader, status, _ := b.post(t, first, `{"name": "reader", "kind": "adm", "scopes": ["Tools/*", "Keys/Manage"], "expires_in_days": 1}`)
	if status != http.StatusCreated || !reader.Data.ExpiresAt.Equal(start.Add(24*time.Hour)) {
		t.Errorf("reader: got %d, %+v", status, reader.Data)
	}
	if w := b.do(request{method: "GET", target: "/api/v1/admin/tools/logs/errors", key: reader.Data.Key}); w.Code != http.StatusOK {
		t.Errorf("the new key lists errors: got %d", w.Code)
	}
	monitor, status, _ := b.post(t, first, `{"name": "monitor", "kind": "ops", "expires_in_days": 0}`)
	if status != http.StatusCreated || monitor.Data.ExpiresAt != nil {
		t.Errorf("monitor: got %d, %+v, want one that never expires", status, monitor.Data)
	}

	w = b.do(request{method: "DELETE", target: keysPath + "/" + reader.Data.ID, key: first})
	golden(t, "key_revoked", w)
	if w := b.do(request{method: "GET", target: keysPath, key: reader.Data.Key}); w.Code != http.StatusUnauthorized {
		t.Errorf("the revoked key: got %d, want 401", w.Code)
	}
	b.clock.Move(366 * 24 * time.Hour)
	w = b.do(request{method: "GET", target: keysPath, key: first})
	golden(t, "key_list", w)
	for _, text := range []string{first, ingest.Data.Key, reader.Data.Key, monitor.Data.Key} {
		token, err := access.ParseToken(text)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(w.Body.String(), token.Secret) || strings.Contains(b.log.String(), token.Secret) {
			t.Errorf("the secret of %s is in the list or in the log", token.ID)
		}
	}
}

func TestKeyBodiesAreChecked(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	for _, c := range []struct {
		body   string
		status int
		code   string
	}{
		{``, 422, "invalid_name"},
		{`{}`, 422, "invalid_name"},
		{`{"name":"x"}`, 422, "invalid_kind"},
		{`{"name":"x","kind":"root"}`, 422, "invalid_kind"},
		{`{"name":"x","kind":"adm"}`, 422, "invalid_scope"},
		{`{"name":"x","kind":"adm","scopes":["tools.read"]}`, 422, "invalid_scope"},
		{`{"name":"x","kind":"ing","scopes":["*"]}`, 422, "invalid_scope"},
		{`{"name":"x","kind":"ops","scopes":["Keys/Manage"]}`, 422, "invalid_scope"},
		{`{"name":"x","kind":"ops","project":1}`, 422, "invalid_project"},
		{`{"name":"x","kind":"ing","project":9007199254740993}`, 422, "invalid_project"},
		{`{"name":"x","kind":"ing","expires_in_days":-1}`, 422, "invalid_expiry"},
		{`{"name":"x","kind":"ing","expires_in_days":36501}`, 422, "invalid_expiry"},
		{`{"name":"x","kind":"ing","expires_in_days":1.5}`, 400, "invalid_body"},
		{`{"name":"x","kind":"ing","project":-1}`, 400, "invalid_body"},
		{`{"name":7}`, 400, "invalid_body"},
	} {
		if _, status, got := b.post(t, key, c.body); status != c.status || got != c.code {
			t.Errorf("%s: got %d %s, want %d %s", c.body, status, got, c.status, c.code)
		}
	}
	if n := len(b.keys.List()); n != 1 {
		t.Errorf("refused bodies left %d keys, want the first one only", n)
	}
}

func TestKeyHandsOutOnlyWhatItHolds(t *testing.T) {
	b := newBench(t, nil)
	holder := b.key(t, access.KeysManage, "Tools/*", access.OpsRead)
	for _, c := range []struct {
		body   string
		status int
	}{
		{`{"name":"x","kind":"adm","scopes":["Tools/GetErrorLogs","Tools/*"]}`, 201},
		{`{"name":"x","kind":"adm","scopes":["Keys/Manage"]}`, 201},
		{`{"name":"x","kind":"ing"}`, 201},
		{`{"name":"x","kind":"ops"}`, 201},
		{`{"name":"x","kind":"ops","scopes":["Ops/Read","Audit/Read"]}`, 403},
		{`{"name":"x","kind":"adm","scopes":["*"]}`, 403},
		{`{"name":"x","kind":"adm","scopes":["Keys/*"]}`, 403},
		{`{"name":"x","kind":"adm","scopes":["Tools/GetErrorLogs","Settings/GetTwoFactor"]}`, 403},
	} {
		if _, status, got := b.post(t, holder, c.body); status != c.status || (status == 403) != (got == "insufficient_scope") {
			t.Errorf("%s: got %d %s, want %d", c.body, status, got, c.status)
		}
	}
	onlyKeys := b.key(t, access.KeysManage)
	if _, status, _ := b.post(t, onlyKeys, `{"name":"x","kind":"ops"}`); status != 403 {
		t.Errorf("scopes taken by default count too: got %d, want 403", status)
	}
}

// Otherwise a key that ends would live on in the keys that it made.
func TestKeyHandsOutNoLongerLife(t *testing.T) {
	b := newBench(t, nil)
	end := start.Add(10 * 24 * time.Hour)
	_, maker := b.create(t, access.NewKey{Kind: access.KindAdmin, Scopes: []access.Scope{access.KeysManage, access.OpsRead}, ExpiresAt: end})
	never := time.Time{}
	for _, c := range []struct {
		body   string
		status int
		ends   time.Time
	}{
		{`{"name":"x","kind":"adm","scopes":["Keys/Manage"]}`, 201, end},
		{`{"name":"x","kind":"ops"}`, 201, end},
		{`{"name":"x","kind":"ops","expires_in_days":9}`, 201, start.Add(9 * 24 * time.Hour)},
		{`{"name":"x","kind":"ops","expires_in_days":11}`, 422, never},
		{`{"name":"x","kind":"adm","scopes":["Keys/Manage"],"expires_in_days":0}`, 422, never},
		{`{"name":"x","kind":"ing"}`, 201, never},
		{`{"name":"x","kind":"ing","expires_in_days":11}`, 201, start.Add(11 * 24 * time.Hour)},
	} {
		made, status, got := b.post(t, maker, c.body)
		if status != c.status || (status == 422) != (got == "invalid_expiry") {
			t.Errorf("%s: got %d %s, want %d", c.body, status, got, c.status)
			continue
		}
		var ends time.Time
		if made.Data.ExpiresAt != nil {
			ends = *made.Data.ExpiresAt
		}
		if !ends.Equal(c.ends) {
			t.Errorf("%s: ends %v, want %v", c.body, ends, c.ends)
		}
	}
}

func TestKeyRevokesOnlyWhatItHolds(t *testing.T) {
	b := newBench(t, nil)
	holderKey, holder := b.create(t, access.NewKey{Kind: access.KindAdmin, Scopes: []access.Scope{access.KeysManage, "Tools/*"}, NeverExpires: true})
	for _, c := range []struct {
		name   string
		victim access.NewKey
		status int
	}{
		{"everything", access.NewKey{Kind: access.KindAdmin, Scopes: []access.Scope{access.Everything}}, 403},
		{"another group", access.NewKey{Kind: access.KindAdmin, Scopes: []access.Scope{"Tools/GetErrorLogs", access.AuditRead}}, 403},
		{"a wider pattern", access.NewKey{Kind: access.KindAdmin, Scopes: []access.Scope{"Keys/*"}}, 403},
		{"monitoring", access.NewKey{Kind: access.KindOps}, 403},
		{"fewer scopes", access.NewKey{Kind: access.KindAdmin, Scopes: []access.Scope{"Tools/GetErrorLogs"}}, 200},
		{"an application's", access.NewKey{Kind: access.KindIngest}, 200},
	} {
		victim, text := b.create(t, c.victim)
		w := b.do(request{method: "DELETE", target: keysPath + "/" + victim.ID, key: holder})
		if w.Code != c.status || w.Code == 403 && code(t, w) != "insufficient_scope" {
			t.Errorf("%s: got %d %s, want %d", c.name, w.Code, w.Body, c.status)
		}
		if _, err := b.keys.Authenticate(text); (err == nil) != (c.status == 403) {
			t.Errorf("%s: afterwards it works: %v", c.name, err == nil)
		}
	}
	if w := b.do(request{method: "DELETE", target: keysPath + "/" + holderKey.ID, key: holder}); w.Code != 200 {
		t.Errorf("its own end: got %d %s, want 200", w.Code, w.Body)
	}
}

func TestDSNWithoutPublicURL(t *testing.T) {
	b := newBench(t, nil)
	made, _, _ := b.post(t, b.key(t, access.Everything), `{"name":"x","kind":"ing"}`)
	if !strings.HasPrefix(made.Data.DSN, "http://") || !strings.HasSuffix(made.Data.DSN, "@example.com/1") {
		t.Errorf("DSN %s, want the host that the administrator used", made.Data.DSN)
	}
}

// TestDSNBehindAProxy: the DSN has https when a trusted proxy ends TLS; headers
// of other peers are ignored.
func TestDSNBehindAProxy(t *testing.T) {
	for proxy, scheme := range map[string]string{"192.0.2.1/32": "https://", "192.0.2.2/32": "http://"} {
		b := newBench(t, func(c *api.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix(proxy)} })
		w := b.do(request{
			method: "POST", target: keysPath, key: b.key(t, access.Everything), body: `{"name":"x","kind":"ing"}`,
			headers: []string{"Content-Type: application/json", "X-Forwarded-Proto: https"},
		})
		if !strings.Contains(w.Body.String(), `"dsn":"`+scheme) {
			t.Errorf("trusting %s: %s, want %s", proxy, w.Body, scheme)
		}
	}
}

func TestBodyLimits(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	const ok = `{"name":"x","kind":"ing"}`
	for _, c := range []struct {
		name, body, header string
		status             int
		code               string
	}{
		{"no content type", ok, "X-None: 1", 201, ""},
		{"largest", ok + strings.Repeat(" ", 1<<20-len(ok)), "Content-Type: application/json", 201, ""},
		{"one byte more", ok + strings.Repeat(" ", 1<<20-len(ok)+1), "Content-Type: application/json", 413, "body_too_large"},
		{"form", ok, "Content-Type: application/x-www-form-urlencoded", 415, "unsupported_media_type"},
		{"text", ok, "Content-Type: text/plain", 415, "unsupported_media_type"},
		{"nonsense", ok, "Content-Type: ;;", 415, "unsupported_media_type"},
		{"compressed", ok, "Content-Encoding: gzip", 415, "unsupported_media_type"},
		{"not JSON", `name=x`, "Content-Type: application/json", 400, "invalid_body"},
		{"cut off", ok[:len(ok)-1], "Content-Type: application/json", 400, "invalid_body"},
		{"two values", ok + ok, "Content-Type: application/json", 400, "invalid_body"},
		{"array", `[1]`, "Content-Type: application/json", 400, "invalid_body"},
		{"null", `null`, "Content-Type: application/json", 400, "invalid_body"},
		{"null with space", ` null `, "Content-Type: application/json", 400, "invalid_body"},
		{"string", `"x"`, "Content-Type: application/json", 400, "invalid_body"},
		{"deep", strings.Repeat(`{"a":`, 20000), "Content-Type: application/json", 400, "invalid_body"},
	} {
		w := b.do(request{method: "POST", target: keysPath, key: key, body: c.body, headers: []string{c.header}})
		if got := code(t, w); w.Code != c.status || got != c.code {
			t.Errorf("%s: got %d %s, want %d %s", c.name, w.Code, got, c.status, c.code)
		}
	}
	w := b.do(request{method: "POST", target: keysPath, key: key, body: `{"name":"x","scopes":["a",1]}`, headers: []string{"X-Request-Id: r"}})
	golden(t, "error_field", w)
}
