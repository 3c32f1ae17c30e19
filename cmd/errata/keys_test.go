package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// useLimitedKey makes a key for project 7, sees it listed, and lists projects with it.
func useLimitedKey(t *testing.T, data string) {
	got := command(t, nil, "keys", "create", "team", "--kind", "adm", "--scopes", "Projects/Read", "--projects", "7", "--json", "--data", data)
	var team apiKey
	if err := json.Unmarshal([]byte(got.out), &team); err != nil || !slices.Equal(team.Projects, []uint{7}) {
		t.Errorf("a limited key: %+v: %v", got, err)
	}
	if got := command(t, []string{"ERRATA_KEY=" + team.Key}, "projects", "list", "--data", data); !strings.Contains(got.out, "project-7") || strings.Contains(got.out, "default") {
		t.Errorf("the projects of a limited key: %+v", got)
	}
	if got := command(t, nil, "keys", "list", "--data", data); !regexp.MustCompile(`(?m)^` + team.ID + ` +adm +active +7 .*team$`).MatchString(got.out) {
		t.Errorf("list with a limited key: %+v", got)
	}
}

func TestKeysShow(t *testing.T) {
	data := t.TempDir()
	if err := os.Mkdir(filepath.Join(data, "keys"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"admin": "admin.key", "ingest": "ingest.key", "dsn": "dsn"} {
		if got := command(t, nil, "keys", "show", name, "--data", data); got.code != exitFailed || !strings.Contains(got.err, file) {
			t.Errorf("show %s without its file: %+v", name, got)
		}
		if err := os.WriteFile(filepath.Join(data, "keys", file), []byte("the "+name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := command(t, []string{"ERRATA_DATA=" + data}, "keys", "show", name); got.code != exitOK || got.out != "the "+name+"\n" || got.err != "" {
			t.Errorf("show %s: %+v", name, got)
		}
	}
}
