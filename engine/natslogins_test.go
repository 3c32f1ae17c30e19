package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Passwords and ids are read from their files. A file that cannot be read is not
// replaced.
func TestLogins(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	for _, c := range []struct {
		read       func(string) (string, error)
		text, want string // "" for an error
	}{
		{passwordOf, "nats://errata_app:secret@127.0.0.1:4222\n", "secret"},
		{passwordOf, "nats://127.0.0.1:4222\n", ""},
		{passwordOf, "", ""},
		{passwordOf, "nats://a:b c@:x", ""},
		{nodeID, "abc0\n", "abc0"},
		{nodeID, "A/B", ""},
		{nodeID, "", ""},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := c.read(file)
		if (err == nil) != (c.want != "") || err == nil && got != c.want || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %q, %v; want %q", c.text, got, err, c.want)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	id, err := nodeID(file)
	if again, _ := nodeID(file); err != nil || !leafID.MatchString(id) || again != id {
		t.Errorf("a new id %q, %v, and %q the next time", id, err, again)
	}
	if password, err := passwordOf(file + "2"); err != nil || password == "" {
		t.Errorf("a new password %q, %v", password, err)
	}
}
