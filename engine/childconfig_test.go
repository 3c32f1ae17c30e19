package engine

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// merges is the one value that depends on the machine.
var merges = regexp.MustCompile(`<background_pool_size>\d+<`)

func TestChildFiles(t *testing.T) {
	runDir := t.TempDir()
	files := childFilesIn(runDir)
	cfg := ClickHouseConfig{DataDir: "/data/<odd> & name/clickhouse", Memory: 2 << 30, Database: DefaultDatabase}
	keys := childKeys{writer: "the writer's password", reader: "the reader's password", analyst: "the analyst's password"}
	// A file that all users can read is replaced, so that they cannot read the new one.
	if err := os.Mkdir(files.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files.users, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := files.write(cfg, keys, 41234); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{files.config, files.users, files.dsn, files.analystDSN} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", filepath.Base(path), info.Mode().Perm())
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(got), runDir, "/run")
		text = merges.ReplaceAllString(text, "<background_pool_size>N<")
		compareGolden(t, filepath.Base(path), text)
		if strings.HasSuffix(path, ".xml") {
			wellFormed(t, path, text)
		}
	}
	files.remove()
	if left, err := os.ReadDir(runDir); err != nil || len(left) != 0 {
		t.Errorf("%d files are left, error %v", len(left), err)
	}
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not as in %s (go test ./engine -update):\n%s", name, path, got)
	}
}

func wellFormed(t *testing.T, name, text string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%s is no XML: %v", name, err)
		}
	}
}

// The script that fetches the library and the code that looks for it must agree on the
// version.
func TestScriptBringsTheVersionThatIsLookedFor(t *testing.T) {
	script, err := os.ReadFile("fetch-libchdb.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"version=" + libchdbVersion + "\n",
		"folder=$cache/libchdb-$version\n",
		"library=$folder/" + libraryName + "\n",
	} {
		if !strings.Contains(string(script), line) {
			t.Errorf("fetch-libchdb.sh has no line %q", line)
		}
	}
}

func TestFindLibrary(t *testing.T) {
	cache := t.TempDir()
	there := filepath.Join(cache, "libchdb-"+libchdbVersion, libraryName)
	given := filepath.Join(cache, "given.so")
	if err := os.MkdirAll(filepath.Dir(there), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{there, given} {
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		given, env, cache string
		want              string // "" for an error
	}{
		"in the cache":           {"", "", cache, there},
		"given":                  {given, "/nowhere", cache, given},
		"by the environment":     {"", given, cache, given},
		"given and absent":       {"/nowhere.so", given, cache, ""},
		"environment and absent": {"", "/nowhere.so", cache, ""},
		"a folder":               {cache, "", cache, ""},
		"empty cache":            {"", "", t.TempDir(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("ERRATA_LIBCHDB", test.env)
			t.Setenv("ERRATA_CACHE", test.cache)
			got, err := FindLibrary(test.given)
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if test.want == "" && (err == nil || !strings.Contains(err.Error(), "make engine") || !strings.Contains(err.Error(), "ERRATA_CLICKHOUSE_DSN")) {
				t.Errorf("error %v does not say what to run", err)
			}
		})
	}
}

// TestFetchCommand has the places in which releases bring the script.
func TestFetchCommand(t *testing.T) {
	archive, installed, checkout := t.TempDir(), t.TempDir(), t.TempDir()
	beside, packaged := filepath.Join(archive, fetchName), filepath.Join(installed, "lib", "errata", fetchName)
	for _, script := range []string{beside, packaged} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(script), 0o755), os.WriteFile(script, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ dir, cache, want string }{
		{archive, "", "sh " + beside},
		{filepath.Join(installed, "bin"), "/c", "ERRATA_CACHE=/c sh " + packaged},
		{checkout, "/c", "make engine"},
	} {
		if got := fetchCommand(c.dir, c.cache); got != c.want {
			t.Errorf("in %s with the cache %q: %q, want %q", c.dir, c.cache, got, c.want)
		}
	}
}

func TestCacheDir(t *testing.T) {
	for name, test := range map[string]struct{ cache, xdg, home, want string }{
		"ours first":  {"/c", "/x", "/h", "/c"},
		"then XDG":    {"", "/x", "/h", "/x/errata"},
		"then home":   {"", "", "/h", "/h/.cache/errata"},
		"then no way": {"", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("ERRATA_CACHE", test.cache)
			t.Setenv("XDG_CACHE_HOME", test.xdg)
			t.Setenv("HOME", test.home)
			got, err := CacheDir()
			if got != test.want || (err == nil) != (test.want != "") {
				t.Errorf("got %q, error %v, want %q", got, err, test.want)
			}
		})
	}
}
