package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/errata-log/errata/test/testenv"
)

// killRounds is how often the service dies; each costs a start.
const killRounds = 3

// createdAtMost is how many keys each of four creators makes in a round: all of
// them fit into one page of the trail.
const createdAtMost = 8

// TestAuditOutlivesKills kills the service in the middle of changes. After the
// next start each key that exists has exactly one entry.
func TestAuditOutlivesKills(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	testenv.Seed(t, data)
	for range killRounds {
		s := serveProcess(t, data)
		admin, err := os.ReadFile(filepath.Join(data, "keys", "admin.key"))
		if err != nil {
			t.Fatal(err)
		}
		enough := make(chan struct{}, 1)
		var creators sync.WaitGroup
		for range 4 {
			creators.Go(func() {
				for n := 0; n < createdAtMost && createsKey(t, s.url, strings.TrimSpace(string(admin))); n++ {
					if n == 5 {
						select {
						case enough <- struct{}{}:
						default:
						}
					}
				}
			})
		}
		<-enough
		if err := s.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = s.cmd.Wait() // "signal: killed"
		creators.Wait()
	}
	s := serveProcess(t, data)
	keys := auditedIDs(t, "keys", "list", "--json", "--data", data)
	entries := auditedIDs(t, "audit", "list", "--limit", "100", "--action", "key.create", "--json", "--data", data)
	t.Logf("%d keys after %d kills", len(keys), killRounds)
	if len(keys) < 2+killRounds*6 || !slices.Equal(keys, entries) {
		t.Errorf("%d keys and %d entries:\n%q\n%q", len(keys), len(entries), keys, entries)
	}
	if got := command(t, nil, "audit", "verify", "--data", data); got.code != exitOK || !strings.Contains(got.out, "none changed or missing") {
		t.Errorf("verify: %+v", got)
	}
	s.stop(t)
}

// createsKey asks for a key until the service is gone.
func createsKey(t *testing.T, url, admin string) bool {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+keysPath, bytes.NewReader([]byte(`{"name":"x","kind":"ops"}`)))
	if err != nil {
		t.Error(err)
		return false
	}
	req.Header.Set("Authorization", "Bearer "+admin)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusCreated
}

// auditedIDs are the ids of the keys that a command prints, sorted.
func auditedIDs(t *testing.T, args ...string) []string {
	t.Helper()
	got := command(t, nil, args...)
	var rows []struct {
		ID    string `json:"id"`
		After struct {
			ID string `json:"id"`
		} `json:"after"`
	}
	if err := json.Unmarshal([]byte(got.out), &rows); err != nil || got.code != exitOK {
		t.Fatalf("%q: %+v (%v)", args, got, err)
	}
	var ids []string
	for _, row := range rows {
		ids = append(ids, row.ID+row.After.ID)
	}
	slices.Sort(ids)
	return ids
}
