//go:build linux

package engine

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// platformPackages are the packages for which the script knows no sum.
var platformPackages = []struct{ system, processor, name string }{
	{"Linux", "aarch64", "@chdb/lib-linux-arm64-gnu"},
	{"Darwin", "arm64", "@chdb/lib-darwin-arm64"},
	{"Darwin", "x86_64", "@chdb/lib-darwin-x64"},
}

// packed is an archive as npm packs it, with a few bytes in the place of a library.
func packed(t *testing.T, name, library string) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	tape := tar.NewWriter(zip)
	manifest, err := json.Marshal(map[string]string{"name": name, "version": libchdbVersion})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []struct{ name, text string }{{"package/package.json", string(manifest)}, {"package/" + libraryName, library}} {
		err := tape.WriteHeader(&tar.Header{Name: file.name, Mode: 0o600, Size: int64(len(file.text))})
		if _, wrote := tape.Write([]byte(file.text)); errors.Join(err, wrote) != nil {
			t.Fatal(err, wrote)
		}
	}
	if err := errors.Join(tape.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// otherMachine is a folder of programs for a PATH that has nothing else: no sha256sum on
// macOS, where shasum is in its place and wc pads its number, and no ldd there. Its npm
// writes its arguments down and copies the archive.
func otherMachine(t *testing.T, system, processor, archive string) (bin string, calls func() string) {
	t.Helper()
	bin = t.TempDir()
	log := filepath.Join(bin, "calls")
	real := map[string]string{}
	for _, name := range []string{"sh", "cat", "chmod", "cp", "grep", "gzip", "mkdir", "mktemp", "mv", "rm", "sha256sum", "tar", "wc"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		real[name] = path
	}
	fakes := map[string]string{"uname": uname(system, processor), "npm": `echo "$*" >>'` + log + `' && cp '` + archive + `' chdb-lib.tgz`}
	if system == "Darwin" {
		fakes["shasum"] = `[ "$1 $2" = "-a 256" ] && exec ` + real["sha256sum"] + ` "$3"`
		fakes["wc"] = `printf '%12d\n' "$(` + real["wc"] + ` "$@")"`
		delete(real, "sha256sum")
		delete(real, "wc")
	} else {
		fakes["ldd"] = "echo glibc"
	}
	for name, path := range real {
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, script := range fakes {
		writeScript(t, filepath.Join(bin, name), script)
	}
	return bin, func() string {
		text, err := os.ReadFile(log)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return string(text)
	}
}

// TestFetchOnOtherPlatforms brings the library of each platform, once, and again when it
// is incomplete.
func TestFetchOnOtherPlatforms(t *testing.T) {
	for _, platform := range platformPackages {
		t.Run(platform.name, func(t *testing.T) {
			archive := filepath.Join(t.TempDir(), "packed.tgz")
			if err := os.WriteFile(archive, packed(t, platform.name, "a library"), 0o600); err != nil {
				t.Fatal(err)
			}
			bin, calls := otherMachine(t, platform.system, platform.processor, archive)
			cache := t.TempDir()
			env := []string{"ERRATA_CACHE=" + cache, "PATH=" + bin}
			library := filepath.Join(cache, "libchdb-"+libchdbVersion, libraryName)
			call := "pack " + platform.name + "@" + libchdbVersion + " --loglevel=error\n"

			stdout, stderr, code := runFetchWith(t, env)
			text, err := os.ReadFile(library)
			if code != 0 || stdout != library+"\n" || err != nil || string(text) != "a library" || calls() != call {
				t.Fatalf("exit %d, %q, %q; library %q, %v; calls %q", code, stdout, stderr, text, err, calls())
			}
			if !strings.Contains(stderr, "only npm has compared the archive") || !strings.Contains(stderr, "no sum of "+platform.name) {
				t.Errorf("it does not say what was checked: %q", stderr)
			}
			if stdout, stderr, code = runFetchWith(t, env); code != 0 || stdout != library+"\n" || stderr != "" || calls() != call {
				t.Errorf("again: exit %d, %q, %q, calls %q; want its path alone", code, stdout, stderr, calls())
			}
			if err := os.Truncate(library, 3); err != nil {
				t.Fatal(err)
			}
			if stdout, stderr, code = runFetchWith(t, env); code != 0 || stdout != library+"\n" || calls() != call+call {
				t.Errorf("cut short: exit %d, %q, %q, calls %q; want it to be brought again", code, stdout, stderr, calls())
			}
			if stdout, stderr, code = runFetchWith(t, []string{"ERRATA_CACHE=" + t.TempDir(), "PATH=" + bin}, archive); code != 0 ||
				!strings.Contains(stderr, "only npm, where it was packed, has compared") || calls() != call+call {
				t.Errorf("with an archive: exit %d, %q, %q, calls %q", code, stdout, stderr, calls())
			}
		})
	}
}

// TestFetchRefusesOtherArchives also leaves nothing behind.
func TestFetchRefusesOtherArchives(t *testing.T) {
	platform := platformPackages[1]
	whole := packed(t, platform.name, strings.Repeat("a library", 1000))
	for name, c := range map[string]struct {
		archive []byte
		want    string
	}{
		"another platform": {packed(t, platformPackages[0].name, "a library"), "is not the archive of " + platform.name},
		"no archive":       {[]byte("something else"), "is not the archive of " + platform.name},
		"cut short":        {whole[:len(whole)-20], "incomplete or the disk is full"},
	} {
		archive := filepath.Join(t.TempDir(), "packed.tgz")
		if err := os.WriteFile(archive, c.archive, 0o600); err != nil {
			t.Fatal(err)
		}
		bin, _ := otherMachine(t, platform.system, platform.processor, archive)
		cache := t.TempDir()
		stdout, stderr, code := runFetchWith(t, []string{"ERRATA_CACHE=" + cache, "PATH=" + bin})
		if code != 1 || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit %d, output %q, message %q; want %q", name, code, stdout, stderr, c.want)
		}
		if left, err := filepath.Glob(filepath.Join(cache, "*", "*")); err != nil || len(left) != 0 {
			t.Errorf("%s: it left %q behind, error %v", name, left, err)
		}
	}
}

// TestNpmComparesWithTheRecord runs the real npm against a registry of this test: its
// comparison is all there is where the script knows no sum.
func TestNpmComparesWithTheRecord(t *testing.T) {
	platform := platformPackages[0]
	archive := packed(t, platform.name, "a library")
	for name, recorded := range map[string][]byte{"the same": archive, "another": packed(t, platform.name, "another library")} {
		sum := sha512.Sum512(recorded)
		var registry *httptest.Server
		registry = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, ".tgz") {
				_, _ = w.Write(archive)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{"name": platform.name, "versions": map[string]any{libchdbVersion: map[string]any{
				"name": platform.name, "version": libchdbVersion,
				"dist": map[string]string{"tarball": registry.URL + "/lib.tgz", "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])},
			}}})
		}))
		cache, bin := t.TempDir(), t.TempDir()
		writeScript(t, filepath.Join(bin, "uname"), uname(platform.system, platform.processor))
		// Nothing of the settings of this machine's npm.
		stdout, stderr, code := runFetchWith(t, []string{
			"ERRATA_CACHE=" + cache, "PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + bin, "NO_PROXY=127.0.0.1", "npm_config_registry=" + registry.URL,
			"npm_config_cache=" + filepath.Join(bin, "cache"), "npm_config_userconfig=" + filepath.Join(bin, "user"),
			"npm_config_globalconfig=" + filepath.Join(bin, "global"), "npm_config_update_notifier=false", "npm_config_fetch_retries=0",
		})
		registry.Close()
		_, err := os.Stat(filepath.Join(cache, "libchdb-"+libchdbVersion, libraryName))
		switch {
		case name == "the same" && (code != 0 || stdout == "" || err != nil):
			t.Errorf("%s: exit %d, %q, %q, %v; want the library", name, code, stdout, stderr, err)
		case name == "another" && (code != 1 || stdout != "" || !errors.Is(err, os.ErrNotExist) || !strings.Contains(stderr, "EINTEGRITY")):
			t.Errorf("%s: exit %d, %q, %q, %v; want npm to refuse it", name, code, stdout, stderr, err)
		}
	}
}
