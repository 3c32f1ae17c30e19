package testenv

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/migrations"
)

// Seed gives a service that has not started yet the empty tables that its first
// start would make, which takes a third of the processor time of a start. Tests
// of the first start itself do without. A folder with tables stays as it is.
func Seed(t testing.TB, data string) {
	t.Helper()
	to := filepath.Join(data, "clickhouse")
	if _, err := os.Stat(to); err == nil {
		return
	}
	from, err := seed()
	if err == nil {
		err = os.MkdirAll(data, 0o700)
	}
	if err == nil {
		err = os.CopyFS(to, os.DirFS(from))
	}
	if err == nil {
		err = os.Chmod(to, 0o700)
	}
	if err != nil {
		t.Fatalf("testenv: give a service its tables: %v", err)
	}
}

// seed is the data folder of an engine with empty tables. Like the engine's
// program it is made once for all test processes, and the cache folder keeps it
// under a hash of what it is made from.
var seed = sync.OnceValues(func() (dir string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	library, err := engine.FindLibrary("")
	if err != nil {
		return "", err
	}
	binary, err := buildEngine(ctx)
	if err != nil {
		return "", err
	}
	key, err := seedKey(library, binary)
	if err != nil {
		return "", err
	}
	cache, err := engine.CacheDir()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(cache, "tables-"+key)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	temp, err := os.MkdirTemp(cache, "tables")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	ch, err := engine.StartClickHouse(ctx, engine.ClickHouseConfig{
		Database: engine.DefaultDatabase, DataDir: filepath.Join(temp, "data"), RunDir: filepath.Join(temp, "run"),
		EngineBinary: binary, Library: library, Logger: quiet(),
	})
	if err != nil {
		return "", err
	}
	if err := errors.Join(migrations.ClickHouse(ctx, ch.Options()), ch.Stop(ctx)); err != nil {
		return "", err
	}
	// Of two processes that make it at once the second finds that of the first.
	if err := os.Rename(filepath.Join(temp, "data"), dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return dir, nil
})

// seedKey is a hash of the migrations and of the engine that runs them.
func seedKey(library, binary string) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, library, binary)
	err = filepath.WalkDir(filepath.Join(root, "migrations"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintln(h, path, len(text))
		h.Write(text)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)[:8]), err
}
