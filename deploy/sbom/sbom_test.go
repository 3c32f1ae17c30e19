package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// TestThisProgram describes the test's own binary, which is linked with modules
// like any other, alone and in an archive.
func TestThisProgram(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	archive := archived(t, map[string]string{"e/errata": string(content), "e/fetch.sh": "#!/bin/sh\n"})
	for name, path := range map[string]string{"program": program, "archive": archive} {
		t.Run(name, func(t *testing.T) { describe(t, path) })
	}
}

// archived is a .tar.gz of files that may all be executed.
func archived(t *testing.T, files map[string]string) (path string) {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipped)
	for name, content := range files {
		err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))})
		if _, wrote := archive.Write([]byte(content)); err != nil || wrote != nil {
			t.Fatal(err, wrote)
		}
	}
	path = filepath.Join(t.TempDir(), "errata.tar.gz")
	if err := errors.Join(archive.Close(), zipped.Close(), os.WriteFile(path, packed.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestArchivesThatHoldNoProgram(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"it holds no program":         {"e/fetch.sh": "#!/bin/sh\n"},
		"e/errata: unrecognized file": {"e/errata": "#!/bin/sh\n"},
	} {
		if _, err := programsIn(archived(t, files)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", files, err, want)
		}
	}
}

// TestLibraryOfItsPlatform compares the packages with those of the script, and leaves the
// ClickHouse library out where there is none.
func TestLibraryOfItsPlatform(t *testing.T) {
	for _, c := range []struct {
		system, processor, name string
		pinned                  bool
	}{
		{"linux", "amd64", "@chdb/lib-linux-x64-gnu", true},
		{"linux", "arm64", "@chdb/lib-linux-arm64-gnu", false},
		{"darwin", "arm64", "@chdb/lib-darwin-arm64", false},
		{"darwin", "amd64", "@chdb/lib-darwin-x64", false},
		{"windows", "amd64", "", false},
	} {
		info := &buildinfo.BuildInfo{Settings: []debug.BuildSetting{{Key: "GOOS", Value: c.system}, {Key: "GOARCH", Value: c.processor}}}
		if got := libraryOf(info); got != c.name {
			t.Errorf("%s/%s: %q, want %q", c.system, c.processor, got, c.name)
		}
		if c.name == "" {
			continue
		}
		library, err := fetchedLibrary(filepath.Join("..", ".."), c.name)
		if err != nil || library.Name != c.name || library.Version == "" || (len(library.Hash) == 64) != c.pinned {
			t.Errorf("%s/%s: %+v, %v; want one with a sum: %t", c.system, c.processor, library, err, c.pinned)
		}
	}
	if _, err := fetchedLibrary(filepath.Join("..", ".."), "@chdb/lib-plan9"); err == nil {
		t.Error("a package that the script does not fetch was found")
	}
}

// describe writes the document of a program and checks its parts.
func describe(t *testing.T, program string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "sbom.json")
	var list bytes.Buffer
	if err := run(t.Context(), &list, filepath.Join("..", ".."), out, []string{program}); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(file, cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	if bom.Components == nil {
		t.Fatal("the document names no part")
	}
	for _, want := range []struct{ front, licence string }{
		{"pkg:golang/std@", "BSD-3-Clause"},
		{"pkg:golang/github.com/CycloneDX/cyclonedx-go@v", "Apache-2.0"},
		{"pkg:npm/preact@", "MIT"},
		{"pkg:npm/%40chdb/lib-linux-x64-gnu@", "Apache-2.0"},
	} {
		if strings.Contains(want.front, "chdb") && runtime.GOOS+"-"+runtime.GOARCH != "linux-amd64" {
			continue
		}
		i := slices.IndexFunc(*bom.Components, func(c cdx.Component) bool { return strings.HasPrefix(c.PackageURL, want.front) })
		if i < 0 {
			t.Errorf("no part %s in %s", want.front, list.String())
			continue
		}
		c := (*bom.Components)[i]
		if c.Licenses == nil || !slices.ContainsFunc(*c.Licenses, func(l cdx.LicenseChoice) bool { return l.License.ID == want.licence }) {
			t.Errorf("%s: licences %v, want %s", c.PackageURL, c.Licenses, want.licence)
		}
		if strings.Contains(want.front, "chdb") && (c.Hashes == nil || len((*c.Hashes)[0].Value) != 64) {
			t.Errorf("%s: hash %v, want the SHA-256 of the archive", c.PackageURL, c.Hashes)
		}
	}
}

func TestReportRefuses(t *testing.T) {
	for _, c := range []struct {
		name     string
		licences []string
		says     string // "" when it is accepted
	}{
		{"fits", []string{"MIT", "Apache-2.0"}, ""},
		{"unknown", nil, "no licence was recognised"},
		{"one of two does not fit", []string{"MIT", "AGPL-3.0"}, "AGPL-3.0 is not in the list"},
	} {
		var list bytes.Buffer
		err := report(&list, []part{{Name: "a/b", Version: "v1.2.3", Licences: c.licences}})
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.says)
		}
		if !strings.Contains(list.String(), "a/b") {
			t.Errorf("%s: the list lacks the part: %s", c.name, list.String())
		}
	}
}

func TestLicencesIn(t *testing.T) {
	apache, err := os.ReadFile(filepath.Join("..", "..", "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, file string
		text       string
		want       []string
	}{
		{"whole", "LICENSE", string(apache), []string{"Apache-2.0"}},
		{"by another name", "COPYING.txt", string(apache), []string{"Apache-2.0"}},
		{"no licence by its name", "NOTES", string(apache), nil},
		{"conditions of its own", "LICENSE.md", strings.Repeat("You may use this on Sundays only, and never near the sea. ", 40), nil},
	} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, c.file), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := licencesIn(folder)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, %v, want %v", c.name, got, err, c.want)
		}
	}
}
