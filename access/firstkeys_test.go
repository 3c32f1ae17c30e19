package access_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/datadir"
)

func newStore(t *testing.T) *access.Store {
	t.Helper()
	store, _ := openStore(t, access.Config{})
	return store
}

func newDataDir(t *testing.T) *datadir.Dir {
	t.Helper()
	dir, err := datadir.Open(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dir.Close(); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// firstStart makes the first keys, and checks that they work and that only the
// owner can read their files.
func firstStart(t *testing.T, dir *datadir.Dir, store *access.Store) (admin, ingest access.Key) {
	t.Helper()
	if _, err := access.MakeFirstKeys(t.Context(), dir, store, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	key := func(file string) access.Key {
		text, err := os.ReadFile(dir.Join(file))
		if err != nil {
			t.Fatal(err)
		}
		key, err := store.Authenticate(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatalf("%s does not work: %v", file, err)
		}
		info, err := os.Stat(dir.Join(file))
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: mode %v, %v, want 0600", file, info.Mode(), err)
		}
		return key
	}
	if info, err := os.Stat(dir.Join(datadir.KeysDir)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("keys: mode %v, %v, want 0700", info.Mode(), err)
	}
	return key(datadir.AdminKeyFile), key(datadir.IngestKeyFile)
}

func TestFirstKeys(t *testing.T) {
	dir, store := newDataDir(t), newStore(t)
	admin, ingest := firstStart(t, dir, store)
	if !slices.Equal(admin.Scopes, []access.Scope{access.Everything}) || !admin.ExpiresAt.IsZero() {
		t.Errorf("admin key: %+v, want every scope and no end", admin)
	}
	if !slices.Equal(ingest.Scopes, []access.Scope{access.EventsWrite}) || ingest.Project != 1 || !ingest.ExpiresAt.IsZero() {
		t.Errorf("ingest key: %+v, want Events/Write of project 1 and no end", ingest)
	}

	dsn, err := access.WriteDSN(dir, store, "https://errors.example.org/errata")
	if want := "https://" + ingest.PublicKey + "@errors.example.org/errata/1"; err != nil || dsn != want {
		t.Errorf("DSN: got %q, %v, want %q", dsn, err, want)
	}
	if text, err := os.ReadFile(dir.Join(datadir.DSNFile)); err != nil || string(text) != dsn+"\n" {
		t.Errorf("DSN file: got %q, %v", text, err)
	}
	if _, err := access.WriteDSN(dir, store, "http://127.0.0.1:9"); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(dir.Join(datadir.DSNFile)); err != nil || !strings.HasSuffix(string(text), "@127.0.0.1:9/1\n") {
		t.Errorf("DSN file after a new address: got %q, %v", text, err)
	}

	// A second start changes nothing, whether the files are there or not.
	again, _ := firstStart(t, dir, store)
	if again.ID != admin.ID {
		t.Errorf("second start: admin key %s became %s", admin.ID, again.ID)
	}
	if err := os.Remove(dir.Join(datadir.AdminKeyFile)); err != nil {
		t.Fatal(err)
	}
	first, err := access.MakeFirstKeys(t.Context(), dir, store, slog.New(slog.DiscardHandler))
	if err != nil || first {
		t.Errorf("start without the file: first %v, %v, want nothing made", first, err)
	}
	if n := len(store.List()); n != 2 {
		t.Errorf("%d keys, want 2", n)
	}
}

// TestLostAdminKey is what the help of "errata keys" tells an operator to do.
func TestLostAdminKey(t *testing.T) {
	dir, store := newDataDir(t), newStore(t)
	admin, ingest := firstStart(t, dir, store)
	if err := os.Remove(dir.Join(datadir.AdminKeyFile)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir.Join(datadir.MakeKeysFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	newAdmin, sameIngest := firstStart(t, dir, store)
	if newAdmin.ID == admin.ID || sameIngest.ID != ingest.ID {
		t.Errorf("admin %s became %s, ingest %s became %s; want only the lost one to be new", admin.ID, newAdmin.ID, ingest.ID, sameIngest.ID)
	}
}

// crashing is a key store of a process that crashes at its nth Create, before
// or after the key is stored.
type crashing struct {
	*access.Store
	creates *int
	after   bool
}

var errCrash = errors.New("the process is gone")

func (c crashing) Create(ctx context.Context, n access.NewKey) (access.Key, string, error) {
	*c.creates--
	if *c.creates > 0 {
		return c.Store.Create(ctx, n)
	}
	if c.after {
		if _, _, err := c.Store.Create(ctx, n); err != nil {
			return access.Key{}, "", err
		}
	}
	return access.Key{}, "", errCrash
}

func TestFirstKeysAfterACrash(t *testing.T) {
	for _, c := range []struct {
		name   string
		create int
		after  bool
	}{
		{"before the first key", 1, false},
		{"between the first key and its file", 1, true},
		{"between the keys", 2, false},
		{"between the second key and its file", 2, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, store := newDataDir(t), newStore(t)
			left := c.create
			_, err := access.MakeFirstKeys(t.Context(), dir, crashing{store, &left, c.after}, slog.New(slog.DiscardHandler))
			if !errors.Is(err, errCrash) {
				t.Fatalf("got %v, want the crash", err)
			}
			admin, ingest := firstStart(t, dir, store)
			for _, key := range store.List() {
				if live := key.RevokedAt.IsZero(); live != (key.ID == admin.ID || key.ID == ingest.ID) {
					t.Errorf("key %s (%s): live %v; want the keys of the files and no others", key.ID, key.Name, live)
				}
			}
			if _, err := os.Stat(dir.Join(datadir.MakeKeysFile)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the mark is still there: %v", err)
			}
		})
	}
}
