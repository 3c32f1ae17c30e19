package testenv

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// put writes a file and makes its folder.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A seed of other migrations, of another engine, or made by other code is not used.
func TestSeedKeyIsOfAllThatMakesIt(t *testing.T) {
	root := t.TempDir()
	library := filepath.Join(root, "libchdb.so")
	put(t, library, "library")
	for _, folder := range []string{"migrations", "engine", "test/testenv"} {
		put(t, filepath.Join(root, folder, "code.go"), "package x")
	}
	key := func(binary string) string {
		t.Helper()
		key, err := seedKey(root, library, binary)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	seen := []string{key("engine-1")}
	if again := key("engine-1"); again != seen[0] {
		t.Errorf("the same has two keys, %s and %s", seen[0], again)
	}
	put(t, filepath.Join(root, "migrations", "x_test.go"), "package x")
	if again := key("engine-1"); again != seen[0] {
		t.Error("a test changed the key")
	}
	for _, change := range []func(){
		func() { put(t, filepath.Join(root, "migrations", "clickhouse", "00001_first.sql"), "SELECT 1") },
		func() { put(t, filepath.Join(root, "migrations", "clickhouse", "00001_first.sql"), "SELECT 2") },
		func() { put(t, filepath.Join(root, "migrations", "clickhouse", "00002_second.sql"), "") },
		func() { put(t, filepath.Join(root, "migrations", "code.go"), "package y") },
		func() { put(t, filepath.Join(root, "engine", "clickhouse.xml.tmpl"), "<x/>") },
		func() { put(t, filepath.Join(root, "test", "testenv", "code.go"), "package y") },
		func() { put(t, library, "a longer library") },
	} {
		change()
		seen = append(seen, key("engine-1"))
	}
	seen = append(seen, key("engine-2"))
	slices.Sort(seen)
	if different := len(slices.Compact(seen)); different != 9 {
		t.Errorf("nine versions have %d keys", different)
	}
}

// Two processes that make the seed at once end with one, and both can read it.
func TestSeedIsMadeAtOnce(t *testing.T) {
	cache := t.TempDir()
	var both sync.WaitGroup
	both.Add(2)
	fill := func(dir string) error {
		put(t, filepath.Join(dir, "data", "table"), "empty")
		both.Done()
		both.Wait() // so that neither finds that of the other
		return nil
	}
	var ended sync.WaitGroup
	for range 2 {
		ended.Go(func() {
			dir, release, err := keptSeed(cache, "key", fill)
			if err != nil {
				t.Error(err)
				return
			}
			if text, err := os.ReadFile(filepath.Join(dir, "data", "table")); err != nil || string(text) != "empty" {
				t.Errorf("the seed holds %q, %v", text, err)
			}
			if err := release(); err != nil {
				t.Error(err)
			}
		})
	}
	ended.Wait()
	if found, err := filepath.Glob(filepath.Join(cache, "*")); err != nil || len(found) != 1 {
		t.Errorf("the cache folder holds %v, %v; want one seed", found, err)
	}
}

// Who makes a seed removes old ones, and never one that a process uses.
func TestOldSeedsGo(t *testing.T) {
	cache := t.TempDir()
	made := 0
	keep := func(key string) (dir string, release func() error) {
		t.Helper()
		dir, release, err := keptSeed(cache, key, func(string) error { made++; return nil })
		if err != nil {
			t.Fatal(err)
		}
		return dir, release
	}
	age := func(dir string) {
		t.Helper()
		old := time.Now().Add(-2 * sweepAge)
		if err := os.Chtimes(filepath.Join(dir, usedName), old, old); err != nil {
			t.Fatal(err)
		}
	}
	used, release := keep("used")
	unused, done := keep("unused")
	young, free := keep("young")
	age(used)
	age(unused)
	for _, end := range []func() error{done, free} {
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
	newest, end := keep("newest")
	for dir, want := range map[string]bool{used: true, unused: false, young: true, newest: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s is there: %t, want %t", filepath.Base(dir), err == nil, want)
		}
	}
	again, release2 := keep("used")
	if made != 4 || again != used {
		t.Errorf("%d seeds were made, want 4; the second use is of %s, want %s", made, again, used)
	}
	for _, release := range []func() error{release, release2, end} {
		if err := release(); err != nil {
			t.Error(err)
		}
	}
}
