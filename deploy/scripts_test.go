//go:build linux

package deploy_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// machine is a folder that the scripts of the packages take for a system with systemd.
type machine struct {
	root, calls, bin string
}

// newMachine has errata installed, and a systemctl that writes down its calls.
func newMachine(t *testing.T, running bool) machine {
	t.Helper()
	dir := t.TempDir()
	m := machine{root: filepath.Join(dir, "root"), calls: filepath.Join(dir, "calls"), bin: filepath.Join(dir, "bin")}
	for _, folder := range []string{m.bin, m.root + "/run/systemd/system", m.root + "/usr/lib/errata", m.root + "/etc/errata", m.root + "/var/lib/errata"} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	active := "exit 3"
	if running {
		active = "exit 0"
	}
	m.put(t, "usr/lib/errata/fetch-libchdb.sh", string(read(t, "../engine/fetch-libchdb.sh")))
	m.put(t, "var/lib/errata/data", "all that was accepted")
	for name, script := range map[string]string{
		"systemctl": `echo "$*" >>"` + m.calls + `"; case "$1" in is-active) ` + active + ";; esac",
		"uname":     `[ "$1" = -s ] && echo Linux || echo x86_64`,
		"ldd":       "echo glibc",
		"npm":       `echo npm >>"` + m.calls + `"; exit 1`,
	} {
		if err := os.WriteFile(filepath.Join(m.bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func (m machine) put(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(m.root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func (m machine) has(name string) bool {
	_, err := os.Stat(filepath.Join(m.root, name))
	return err == nil
}

// run runs a script and returns what it printed and which calls it made.
func (m machine) run(t *testing.T, script string, args ...string) (output, calls string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"package/" + script}, args...)...)
	cmd.Env = append(os.Environ(), "DPKG_ROOT="+m.root, "PATH="+m.bin+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s %v: %v\n%s", script, args, err, out)
	}
	made, err := os.ReadFile(m.calls)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(out), strings.Join(strings.Split(strings.TrimSpace(string(made)), "\n"), "; ")
}

// library is where the script puts the ClickHouse library, and the bytes of a whole one.
func library(t *testing.T) (name string, size int64) {
	t.Helper()
	script := string(read(t, "../engine/fetch-libchdb.sh"))
	value := func(of string) string {
		found := regexp.MustCompile(`(?m)^\t?` + of + `=(\S+)$`).FindStringSubmatch(script)
		if found == nil {
			t.Fatalf("fetch-libchdb.sh has no %s", of)
		}
		return found[1]
	}
	size, err := strconv.ParseInt(value("size"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return "usr/lib/errata/libchdb-" + value("version") + "/libchdb.so", size
}

// TestAfterInstall covers the calls of Debian ("configure") and of Red Hat (a number).
func TestAfterInstall(t *testing.T) {
	const (
		fetch   = "ERRATA_CACHE=/usr/lib/errata sh /usr/lib/errata/fetch-libchdb.sh"
		restart = "daemon-reload; is-active --quiet errata.service; try-restart errata.service"
	)
	for name, c := range map[string]struct {
		args     []string
		running  bool
		library  bool
		settings string
		calls    string
		says     string // "" for nothing
	}{
		"first on Debian":              {[]string{"configure", ""}, false, false, "", "daemon-reload", fetch},
		"first on Red Hat":             {[]string{"1"}, false, false, "", "daemon-reload", fetch},
		"update of a running one":      {[]string{"configure", "1.0"}, true, true, "", restart, ""},
		"the same on Red Hat":          {[]string{"2"}, true, true, "", restart, ""},
		"update of a stopped one":      {[]string{"configure", "1.0"}, false, true, "", "daemon-reload; is-active --quiet errata.service", ""},
		"it could not start again":     {[]string{"configure", "1.0"}, true, false, "#ERRATA_CLICKHOUSE_DSN=x\n", "daemon-reload; is-active --quiet errata.service", fetch + " && systemctl restart errata"},
		"ClickHouse elsewhere":         {[]string{"configure", "1.0"}, true, false, "ERRATA_CLICKHOUSE_DSN=clickhouse://a\n", restart, ""},
		"an ingest node":               {[]string{"2"}, true, false, "ERRATA_NATS_LEAF=nats://a\n", restart, ""},
		"Debian takes an attempt back": {[]string{"abort-upgrade", "1.0"}, true, true, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, c.running)
			m.put(t, "etc/errata/errata.env", c.settings)
			if name, size := library(t); c.library {
				m.put(t, name, "")
				if err := os.Truncate(filepath.Join(m.root, name), size); err != nil {
					t.Fatal(err)
				}
			}
			output, calls := m.run(t, "postinst.sh", c.args...)
			if calls != c.calls {
				t.Errorf("it called %q, want %q", calls, c.calls)
			}
			if c.says == "" && output != "" || !strings.Contains(output, c.says) {
				t.Errorf("it says %q, want %q", output, c.says)
			}
		})
	}
}

// TestRemove checks that an update stops and takes away nothing, and that nothing touches
// the data.
func TestRemove(t *testing.T) {
	name, _ := library(t)
	for _, c := range []struct {
		script, arg string
		calls       string
		keeps       bool // the library
	}{
		{"prerm.sh", "upgrade", "", true},
		{"prerm.sh", "1", "", true},
		{"prerm.sh", "remove", "--no-reload disable --now errata.service", true},
		{"prerm.sh", "0", "--no-reload disable --now errata.service", true},
		{"postrm.sh", "upgrade", "", true},
		{"postrm.sh", "1", "", true},
		{"postrm.sh", "remove", "daemon-reload", false},
		{"postrm.sh", "purge", "daemon-reload", false},
		{"postrm.sh", "0", "daemon-reload", false},
	} {
		m := newMachine(t, true)
		m.put(t, name, "")
		_, calls := m.run(t, c.script, c.arg)
		if calls != c.calls || m.has(name) != c.keeps {
			t.Errorf("%s %s called %q, want %q; the library is there: %v", c.script, c.arg, calls, c.calls, m.has(name))
		}
		if !m.has("var/lib/errata/data") {
			t.Errorf("%s %s touched the data", c.script, c.arg)
		}
	}
}

// TestReleaseVersion makes tags and commits in a repository of its own.
func TestReleaseVersion(t *testing.T) {
	dir := t.TempDir()
	script, err := filepath.Abs("package/version.sh")
	if err != nil {
		t.Fatal(err)
	}
	in := func(program string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", program, args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	commit := func() { in("git", "commit", "-q", "--allow-empty", "-m", "a") }
	check := func(want string) {
		t.Helper()
		if got := in("sh", script); !regexp.MustCompile("^" + want + "$").MatchString(got) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	in("git", "init", "-q")
	commit()
	commit()
	check(`0\.0\.0\+2\.g[0-9a-f]{8}`)
	in("git", "tag", "v1.4.0")
	check(`1\.4\.0`)
	commit()
	in("git", "tag", "some-mark")
	check(`1\.4\.0\+1\.g[0-9a-f]{8}`)
	in("git", "tag", "v1.5.0-rc.1")
	check(`1\.5\.0-rc\.1`)
	if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	in("git", "add", "a")
	check(`1\.5\.0-rc\.1\+0\.dirty`)
}
