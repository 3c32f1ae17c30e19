package testenv

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/migrations"
)

// seedPrefix begins the name of a seed's folder in the cache folder.
const seedPrefix = "empty-tables-"

// Seed gives a service that has not started yet the empty tables that its first
// start would make, which takes half of the processor time of a start. Tests of
// the first start itself do without. A folder with tables stays as it is.
func Seed(t testing.TB, data string) {
	t.Helper()
	to := filepath.Join(data, "clickhouse")
	if _, err := os.Stat(to); err == nil {
		return
	}
	if err := sow(to); err != nil {
		t.Fatalf("testenv: give a service its tables: %v", err)
	}
}

// sow copies the seed into a folder that does not exist.
func sow(to string) error {
	from, err := seed()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if err := os.CopyFS(to, os.DirFS(filepath.Join(from, "data"))); err != nil {
		return err
	}
	return os.Chmod(to, 0o700)
}

// seed is a folder with the data of an engine with empty tables. Like the engine's
// program it is made once for all test processes, and the cache folder keeps it
// under a hash of what it is made from.
var seed = sync.OnceValues(func() (dir string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	// The library first, because a new machine does not have it.
	library, err := engine.FindLibrary("")
	if err != nil {
		return "", err
	}
	binary, err := buildEngine(ctx)
	if err != nil {
		return "", err
	}
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	key, err := seedKey(root, library, binary)
	if err != nil {
		return "", err
	}
	cache, err := engine.CacheDir()
	if err != nil {
		return "", err
	}
	dir, heldSeed, err = keptSeed(cache, key, func(dir string) error {
		run := filepath.Join(dir, "run")
		err := fillSeed(ctx, engine.ClickHouseConfig{
			Database: engine.DefaultDatabase, DataDir: filepath.Join(dir, "data"), RunDir: run,
			EngineBinary: binary, Library: library, Logger: quiet(),
		})
		return errors.Join(err, os.RemoveAll(run))
	})
	return dir, err
})

// heldSeed would let others remove the seed of this process.
var heldSeed func() error //nolint:unused // holds the file of the lock open

// keptSeed returns the seed with this key, which nobody removes before release. When
// there is none it makes one, and removes those of other versions that no process
// uses, so that the cache folder does not grow.
func keptSeed(cache, key string, fill func(dir string) error) (dir string, release func() error, err error) {
	dir = filepath.Join(cache, seedPrefix+key)
	if release, err = share(dir); !errors.Is(err, fs.ErrNotExist) {
		return dir, release, err
	}
	sweep(filepath.Join(cache, seedPrefix))
	made, err := os.MkdirTemp(cache, seedPrefix+"new-")
	if err != nil {
		return "", nil, err
	}
	if release, err = claim(made); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(made))
	}
	if err = fill(made); err == nil {
		if err = os.Rename(made, dir); err == nil {
			return dir, release, nil
		}
	}
	err = errors.Join(err, release(), os.RemoveAll(made))
	// Another process has made it at the same time.
	if release, shareErr := share(dir); shareErr == nil {
		return dir, release, nil
	}
	return "", nil, err
}

// fillSeed lets an engine make the tables. The list of applied migrations, which
// they have written row by row, becomes one part: each start would merge it anew.
func fillSeed(ctx context.Context, cfg engine.ClickHouseConfig) error {
	ch, err := engine.StartClickHouse(ctx, cfg)
	if err != nil {
		return err
	}
	err = migrations.ClickHouse(ctx, ch.Options())
	for _, statement := range []string{
		"CREATE TABLE whole AS schema_migrations",
		"INSERT INTO whole SELECT * FROM schema_migrations ORDER BY ALL",
		"EXCHANGE TABLES whole AND schema_migrations",
		"DROP TABLE whole SYNC",
	} {
		if err == nil {
			err = ch.Conn().Exec(ctx, statement)
		}
	}
	return errors.Join(err, ch.Stop(ctx))
}

// seedKey is a hash of all that decides what a seed is: the migrations, the code
// that starts the engine, the engine itself.
func seedKey(root, library, binary string) (string, error) {
	info, err := os.Stat(library)
	if err != nil {
		return "", err
	}
	var files []string
	for _, folder := range []string{"migrations", "engine", "test/testenv"} {
		err := fs.WalkDir(os.DirFS(root), folder, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && !strings.HasSuffix(path, "_test.go") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return keyOf(root, files, library, info.Size(), binary)
}
