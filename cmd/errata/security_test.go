package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/errata-log/errata/audit"
	"github.com/errata-log/errata/datadir"
)

// resetIP switches the check of addresses on for both sides, and off for
// admins by the command. The trail says by which key.
func resetIP(t *testing.T, s *service, data string) {
	path := filepath.Join(data, datadir.AdminKeyFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	curl := "curl -sS " + s.url + addressVerificationPath + " -H 'Authorization: Bearer " + strings.TrimSpace(string(text)) + "'"
	on := `{"admin":{"status":1,"whitelist":"203.0.113.9"},"client":{"status":1}}`
	if got := shell(t, curl+` -X PUT -H 'Content-Type: application/json' -d '`+on+`'`); !strings.Contains(got, "caller_not_exempt") {
		t.Fatalf("switched on: %s", got)
	}
	// Neither an address nor a key from elsewhere is used.
	got := command(t, []string{"ERRATA_URL=http://127.0.0.1:1", "ERRATA_KEY=nonsense"}, "security", "reset-ip", "--data", data)
	if got.code != exitOK || !strings.Contains(got.out, "no longer asked") {
		t.Errorf("reset-ip: %+v", got)
	}
	if got, want := shell(t, curl), `{"data":{"admin":{"status":0,"whitelist":"203.0.113.9"},"client":{"status":1,"whitelist":""}}}`+"\n"; got != want {
		t.Errorf("after it: %s, want %s", got, want)
	}
	got = command(t, nil, "audit", "list", "--limit", "1", "--json", "--data", data)
	var entries []audit.Entry
	if err := json.Unmarshal([]byte(got.out), &entries); err != nil || len(entries) != 1 ||
		entries[0].Action != "settings.security.ip" || !strings.Contains(string(text), entries[0].Actor.KeyID) {
		t.Errorf("the trail has %+v, %v", got, err)
	}
	away := path + ".away"
	if err := os.Rename(path, away); err != nil {
		t.Fatal(err)
	}
	if got := command(t, nil, "security", "reset-ip", "--data", data); got.code != exitFailed || !strings.Contains(got.err, "errata keys -h") {
		t.Errorf("without the key file: %+v", got)
	}
	if err := os.Rename(away, path); err != nil {
		t.Fatal(err)
	}
}

func TestResetIPWithoutAService(t *testing.T) {
	got := command(t, nil, "security", "reset-ip", "--data", t.TempDir())
	if got.code != exitFailed || !strings.Contains(got.err, "no service runs") {
		t.Errorf("got %+v", got)
	}
	for _, args := range [][]string{{"security"}, {"security", "reset-ip", "x"}, {"security", "reset-ip", "--key", "x"}, {"security", "reset-ip", "--url", "http://x"}} {
		if got := command(t, nil, args...); got.code != exitUsage {
			t.Errorf("%q: %+v", args, got)
		}
	}
}
