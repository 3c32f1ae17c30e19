package challenge_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/errata-log/errata/signin/challenge"
)

// same says whether two secrets are the same: a code of one passes with the other.
func same(t *testing.T, a, b *challenge.Secret) bool {
	t.Helper()
	state, code, err := a.NewChallenge(rand.Reader, "ann", "sign-in", start)
	if err != nil {
		t.Fatal(err)
	}
	_, outcome := b.Verify(state, "ann", "sign-in", code, start)
	return outcome == challenge.Passed
}

func TestLoadSecret(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	secrets := make([]*challenge.Secret, 8)
	var loading sync.WaitGroup
	for i := range secrets { // all at once, as nodes on one folder
		loading.Go(func() {
			var err error
			if secrets[i], err = challenge.LoadSecret(dir); err != nil {
				t.Error(err)
			}
		})
	}
	loading.Wait()
	if t.Failed() {
		t.FailNow()
	}
	for _, other := range secrets[1:] {
		if !same(t, secrets[0], other) {
			t.Fatal("two processes have different secrets")
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != challenge.SecretFile {
		t.Fatalf("the folder holds %v, error %v", entries, err)
	}
	stat, err := os.Stat(filepath.Join(dir, challenge.SecretFile))
	if err != nil || stat.Mode().Perm() != 0o600 || stat.Size() != 32 {
		t.Errorf("mode %v, size %d, error %v", stat.Mode(), stat.Size(), err)
	}
	elsewhere, err := challenge.LoadSecret(t.TempDir())
	if err != nil || same(t, secrets[0], elsewhere) {
		t.Errorf("another folder has the same secret, error %v", err)
	}
}

func TestSecretThatCannotBe(t *testing.T) {
	for name, test := range map[string]struct {
		size int
		mode os.FileMode
		want string
	}{
		"cut short":         {31, 0o600, "31 bytes"},
		"empty":             {0, 0o600, "0 bytes"},
		"too long":          {33, 0o600, "33 bytes"},
		"read by the group": {32, 0o640, "chmod 600"},
		"read by all":       {32, 0o604, "chmod 600"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), challenge.SecretFile)
			if err := os.WriteFile(path, make([]byte, test.size), test.mode); err != nil {
				t.Fatal(err)
			}
			if _, err := challenge.LoadSecret(filepath.Dir(path)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if stat, err := os.Stat(path); err != nil || stat.Size() != int64(test.size) {
				t.Errorf("the file was replaced: %v", err)
			}
		})
	}
}
