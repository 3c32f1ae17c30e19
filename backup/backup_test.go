package backup

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/migrations"
)

// A stream that a version adds must have its place in the order of copies.
func TestEveryStreamHasItsPlace(t *testing.T) {
	for _, namespace := range []string{"", "t1"} {
		copied := slices.Concat(followers(namespace), sources(namespace), []string{migrations.StreamName(namespace)})
		all := migrations.Stores(namespace)
		slices.Sort(copied)
		slices.Sort(all)
		if !slices.Equal(copied, all) {
			t.Errorf("a backup copies %v, the service has %v", copied, all)
		}
	}
}

func TestPlainFiles(t *testing.T) {
	data := t.TempDir()
	for _, name := range []string{
		"signin.secret", "other.secret", "keys/admin.key", "geo/country.mmdb", "acme/errata.example", // kept
		"errata.lock", "log.mark", "selfcheck.json", "keys.copy", "signin.secret.new", "keys/.new-123", "nats/jetstream/x", "clickhouse/store/x", "run/engine/x", "legacy/system/php.log", "yesterday/backup.json", "window/x.ids",
	} {
		path := filepath.Join(data, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(name), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("signin.secret", filepath.Join(data, "linked.secret")); err != nil {
		t.Fatal(err)
	}
	names, err := plainFiles(data)
	slices.Sort(names)
	if want := []string{"acme/errata.example", "geo/country.mmdb", "keys/admin.key", "linked.secret", "other.secret", "signin.secret"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("got %v, %v, want %v", names, err, want)
	}
}

// keep starts a Keeper without engines on a data folder with a long path.
func keep(t *testing.T, external bool, ready error) *Keeper {
	t.Helper()
	dir, err := datadir.Open(filepath.Join(t.TempDir(), strings.Repeat("long", 30)))
	if err != nil {
		t.Fatal(err)
	}
	k, err := Start(Config{
		Dir: dir, External: external, Ready: func() error { return ready }, History: semaphore.NewWeighted(1),
		Version: "test", Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(k.Stop(context.Background()), dir.Close()); err != nil {
			t.Error(err)
		}
	})
	return k
}

// A backup that the service refuses leaves nothing.
func TestRefusals(t *testing.T) {
	away := errors.New("the tables are away")
	for name, c := range map[string]struct {
		external bool
		ready    error
		says     string
	}{
		"external": {external: true, says: "docs/operations.md"},
		"away":     {ready: away, says: away.Error()},
	} {
		k := keep(t, c.external, c.ready)
		folder := filepath.Join(t.TempDir(), "backup")
		_, err := Make(t.Context(), k.Dir.Path(), folder, nil)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want an error that says %q", name, err, c.says)
		}
		if left, _ := filepath.Glob(folder + "*"); len(left) > 0 {
			t.Errorf("%s: it leaves %v", name, left)
		}
	}
}

// One backup is made at a time. The next one waits for the end of one that was broken off.
func TestOneBackupAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &Keeper{Config: Config{Ready: func() error { return nil }}, busy: semaphore.NewWeighted(1)}
		if err := k.may(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := k.may(t.Context()); err == nil || !strings.Contains(err.Error(), "another backup") {
			t.Errorf("beside another backup: %v", err)
		}
		time.AfterFunc(busyPatience/2, func() { k.busy.Release(1) })
		if err := k.may(t.Context()); err != nil {
			t.Errorf("after another backup: %v", err)
		}
	})
}

func TestServiceThatMakesNone(t *testing.T) {
	dir, err := datadir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if _, err := Make(t.Context(), dir.Path(), filepath.Join(t.TempDir(), "backup"), nil); !errors.Is(err, ErrNotOffered) {
		t.Errorf("got %v, want ErrNotOffered", err)
	}
}
