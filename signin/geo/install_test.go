package geo

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// packed is an archive as npm makes it.
func packed(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	archive := tar.NewWriter(zipped)
	for i := 0; i < len(files); i += 2 {
		header := &tar.Header{Name: files[i], Mode: 0o644, Size: int64(len(files[i+1])), Typeflag: tar.TypeReg}
		if err := archive.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// offer puts an npm on the path that runs the script, with the archive in
// $ARCHIVE, and returns the source that fits it.
func offer(t *testing.T, archive []byte, script string) source {
	t.Helper()
	bin := t.TempDir()
	t.Setenv("ARCHIVE", save(t, "archive", archive))
	if script != "" {
		if err := os.WriteFile(filepath.Join(bin, "npm"), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { // it is run
			t.Fatal(err)
		}
		bin += string(os.PathListSeparator) + os.Getenv("PATH")
	}
	t.Setenv("PATH", bin)
	sum := sha256.Sum256(archive)
	return source{
		pack: "@made/up@1.2.3", sha256: hex.EncodeToString(sum[:]), database: "package/x.mmdb",
		papers: map[string]string{"package/LICENSE": "country.LICENSE.txt"}, licence: "free",
	}
}

const brings = `[ "$*" = "pack --ignore-scripts --silent @made/up@1.2.3" ] || { echo "called with $*" >&2; exit 1; }
cp "$ARCHIVE" made-up-1.2.3.tgz`

func listed(t *testing.T, dir string) string {
	t.Helper()
	found, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range found {
		names = append(names, entry.Name())
	}
	return strings.Join(names, " ")
}

func TestInstall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data", "geo")
	for _, country := range []string{"GB", "DE"} { // the second one replaces
		database := build(t, "country ipvAll", entries{"81.2.69.0/24": flatRecord("country_code", country)})
		from := offer(t, packed(t, "package/package.json", "{}", "package/x.mmdb", string(database), "package/LICENSE", "be nice",
			"../../evil", "x", "package/other.mmdb", "y"), brings)
		got, err := install(t.Context(), dir, from)
		if err != nil {
			t.Fatal(err)
		}
		if got.Path != filepath.Join(dir, "country.mmdb") || got.Tells != (Tells{Country: true}) || got.Package != "@made/up@1.2.3" ||
			got.Licence != "free" || got.Type != "country ipvAll" || got.Bytes != int64(len(database)) {
			t.Errorf("installed %+v", got)
		}
		if files := listed(t, dir); files != "country.LICENSE.txt country.mmdb" {
			t.Errorf("the folder holds %s", files)
		}
		path, err := find(dir)
		if err != nil || path != got.Path {
			t.Errorf("Find = %s, %v", path, err)
		}
		db, err := open(path)
		if err != nil {
			t.Fatal(err)
		}
		if place, _ := db.Lookup(netip.MustParseAddr("81.2.69.1")); place.Country != country {
			t.Errorf("country %q, want %q", place.Country, country)
		}
		db.Close()
	}
}

// After any error the folder has what was installed before and nothing else.
func TestInstallFails(t *testing.T) {
	good := string(build(t, "country ipvAll", entries{"81.2.69.0/24": flatRecord("country_code", "GB")}))
	whole := packed(t, "package/x.mmdb", good, "package/LICENSE", "be nice")
	for name, test := range map[string]struct {
		archive []byte
		script  string
		want    string
	}{
		"no npm":             {whole, "", "npm is needed"},
		"npm fails":          {whole, "echo 'npm error 404 not found' >&2; exit 1", "404 not found"},
		"npm brings nothing": {whole, "true", "left 0 archives"},
		"npm brings another": {whole, "echo other >x.tgz", "serves something else"},
		"no licence in it":   {packed(t, "package/x.mmdb", good), brings, "1 of the 2 files"},
		"no database in it":  {packed(t, "package/LICENSE", good), brings, "1 of the 2 files"},
		"a broken database":  {packed(t, "package/x.mmdb", good[:len(good)/2], "package/LICENSE", "be nice"), brings, "cut short"},
		"a broken archive":   {whole[:len(whole)/2], brings, "unexpected EOF"},
		"no archive":         {[]byte(strings.Repeat("hello ", 100)), brings, "gzip"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "country.mmdb"), []byte("before"), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := install(t.Context(), dir, offer(t, test.archive, test.script))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if before, err := os.ReadFile(filepath.Join(dir, "country.mmdb")); err != nil || string(before) != "before" || listed(t, dir) != "country.mmdb" {
				t.Errorf("the folder holds %s with %q, error %v", listed(t, dir), before, err)
			}
		})
	}
}

func TestInstallIsGivenUp(t *testing.T) {
	from := offer(t, nil, "exec sleep 60")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	dir := t.TempDir()
	if _, err := install(ctx, dir, from); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that time ran out", err)
	}
	if took := time.Since(began); took > 20*time.Second || listed(t, dir) != "" {
		t.Errorf("gave up after %s, the folder holds %q", took, listed(t, dir))
	}
}

// The licence's texts are among what is taken, and the version is an exact one.
func TestFreeSource(t *testing.T) {
	_, version, found := strings.Cut(free.pack[1:], "@")
	if !found || strings.ContainsAny(version, "^~*x ") || len(free.sha256) != 64 || len(free.papers) == 0 || free.licence == "" {
		t.Errorf("source %+v", free)
	}
}

func TestFind(t *testing.T) {
	for name, test := range map[string]struct {
		files []string
		want  string
		fails string
	}{
		"nothing":             {nil, "", "errata geo install"},
		"other files":         {[]string{"README.md", ".hidden.mmdb", ".install-1"}, "", "errata geo install"},
		"installed":           {[]string{"country.mmdb", "country.README.md"}, "country.mmdb", ""},
		"by hand":             {[]string{"GeoLite2-City.mmdb"}, "GeoLite2-City.mmdb", ""},
		"by hand comes first": {[]string{"GeoLite2-City.mmdb", "country.mmdb"}, "GeoLite2-City.mmdb", ""},
		"several by hand":     {[]string{"a.mmdb", "b.mmdb", "country.mmdb"}, "", "a.mmdb, b.mmdb"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, file := range test.files {
				if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			path, err := find(dir)
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Errorf("error %v, want one with %q", err, test.fails)
				}
				if none := len(test.files) == 0; none && !errors.Is(err, errNotInstalled) {
					t.Errorf("error %v, want errNotInstalled", err)
				}
				return
			}
			if err != nil || path != filepath.Join(dir, test.want) {
				t.Errorf("Find = %s, %v, want %s", path, err, test.want)
			}
		})
	}
	if _, err := find(filepath.Join(t.TempDir(), "not there")); !errors.Is(err, errNotInstalled) {
		t.Errorf("error %v, want errNotInstalled", err)
	}
}
