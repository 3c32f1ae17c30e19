package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const explained = `{"exception_class":"PDOException","message":"SQLSTATE[23000]: Duplicate entry 'a@example.org' for key 'users.email' (3 rows were kept), password=hunter2",
 "file":"/srv/shop/releases/20261121/src/User.php","line":33}
{"exception_class":"*fmt.wrapError","message":"load order 4711: EOF","fingerprint":["{{ default }}","eu"],"application":9,
 "frames":[{"file":"orders/load.go","line":20,"function":"orders.Load","in_app":true},{"file":"net/http/client.go","line":9,"function":"Do"}]}
{"event_id":"9f1c2d3e4b5a4c6d8e7f0a1b2c3d4e5f","platform":"python","exception":{"values":[{"type":"KeyError","value":"'sku'",
 "stacktrace":{"frames":[{"filename":"shop/cart.py","lineno":41,"function":"add"},{"filename":"shop/price.py","lineno":7,"function":"net"}]}}]}}
`

func TestSignatureExplain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.json")
	if err := os.WriteFile(path, []byte(explained), 0o600); err != nil {
		t.Fatal(err)
	}
	got := command(t, []string{"ERRATA_INSTALL_ROOTS=/srv/shop"}, "signature", "explain", path)
	if got.code != exitOK || got.err != "" {
		t.Fatalf("code %d, stderr %q", got.code, got.err)
	}
	golden(t, "signature-explain", got.out)
	asJSON := command(t, []string{"ERRATA_INSTALL_ROOTS=/srv/shop"}, "signature", "explain", "--json", path)
	if lines := strings.Count(asJSON.out, "\n"); asJSON.code != exitOK || lines != 3 {
		t.Fatalf("code %d, %d lines, stderr %q", asJSON.code, lines, asJSON.err)
	}
	for line := range strings.Lines(asJSON.out) {
		var x struct {
			Signature string
			Message   struct{ Replaced []struct{ From, To string } }
		}
		if err := json.Unmarshal([]byte(line), &x); err != nil || !strings.Contains(got.out, x.Signature) {
			t.Errorf("%v: %s", err, line)
		}
	}
}

func TestSignatureExplainMistakes(t *testing.T) {
	for _, c := range []struct{ events, want string }{
		{"", "event 1 is not JSON"},
		{`{"message":"a"} {`, "event 2 is not JSON"},
		{`{"type":"other","message":"a"}`, "event 1: invalid_type: type must be system or database"},
		{`[]`, "the event is not a JSON object"},
	} {
		path := filepath.Join(t.TempDir(), "events.json")
		if err := os.WriteFile(path, []byte(c.events), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := command(t, nil, "signature", "explain", path); got.code == exitOK || !strings.Contains(got.err, c.want) {
			t.Errorf("%s: code %d, stderr %q, want %q", c.events, got.code, got.err, c.want)
		}
	}
	if got := command(t, []string{"ERRATA_SCRUB_PATTERNS=(a"}, "signature", "explain", "-"); got.code != exitUsage || !strings.Contains(got.err, "scrub-patterns") {
		t.Errorf("code %d, stderr %q", got.code, got.err)
	}
}
