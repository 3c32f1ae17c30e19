package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/errata-log/errata/app"
)

func TestBanner(t *testing.T) {
	welcome := app.Welcome{
		First: true, URL: "http://127.0.0.1:8080",
		AdminKeyFile: "/srv/it's here/keys/admin.key", IngestKeyFile: "/srv/it's here/keys/ingest.key",
		DSN: "http://0123456789abcdef0123456789abcdef@127.0.0.1:8080/1",
	}
	golden(t, "banner-first", render(t, welcome))
	welcome.NotReachable = true
	golden(t, "banner-first-elsewhere", render(t, welcome))
	welcome.First = false
	golden(t, "banner-later", render(t, welcome))
	welcome.First, welcome.NATSFile = true, "/srv/it's here/keys/nats.url"
	golden(t, "banner-first-nats", render(t, welcome))
	golden(t, "banner-leaf", render(t, app.Welcome{URL: "http://127.0.0.1:8080", Leaf: true}))
	golden(t, "banner-no-keys", render(t, app.Welcome{URL: "http://127.0.0.1:8080"}))
}

func render(t *testing.T, welcome app.Welcome) string {
	t.Helper()
	var out bytes.Buffer
	if err := printBanner(&out, "bin/errata", welcome); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestShellQuote lets a real shell read the words back.
func TestShellQuote(t *testing.T) {
	for _, word := range []string{"", "/srv/errata/keys", "a b", "it's", `"$HOME" \ $(id)`, "new\nline", "*", "~", "a=b;c"} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+shellQuote(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q: quoted %s, the shell reads %q, %v", word, shellQuote(word), out, err)
		}
	}
	if got := shellQuote("/srv/errata"); strings.Contains(got, "'") {
		t.Errorf("plain path is quoted: %s", got)
	}
}
