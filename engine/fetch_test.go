//go:build linux

package engine

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// runFetch runs fetch-libchdb.sh with some programs replaced by shell scripts. It takes
// this machine for one with Linux on x86-64, unless a script says something else.
func runFetch(t *testing.T, cache string, fakes map[string]string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	bin := t.TempDir()
	programs := map[string]string{"uname": uname("Linux", "x86_64"), "ldd": "echo glibc"}
	maps.Copy(programs, fakes)
	for name, script := range programs {
		writeScript(t, filepath.Join(bin, name), script)
	}
	return runFetchWith(t, []string{"ERRATA_CACHE=" + cache, "PATH=" + bin + ":" + os.Getenv("PATH")}, args...)
}

// uname is the script of a uname of another machine.
func uname(system, processor string) string {
	return `[ "$1" = -s ] && echo ` + system + ` || echo ` + processor
}

func writeScript(t *testing.T, path, script string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// runFetchWith runs fetch-libchdb.sh with some variables of the environment replaced.
func runFetchWith(t *testing.T, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command("sh", append([]string{fetchName}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

const npmMustNotRun = "echo npm was run >&2; exit 1"

// librarySize is what the script takes for a whole library.
func librarySize(t *testing.T) int64 {
	t.Helper()
	script, err := os.ReadFile("fetch-libchdb.sh")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^\tsize=(\d+)$`).FindSubmatch(script)
	if found == nil {
		t.Fatal("fetch-libchdb.sh has no size")
	}
	size, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return size
}

func TestFetchDoesNothingTwice(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "a cache")
	library := filepath.Join(cache, "libchdb-"+libchdbVersion, libraryName)
	if err := os.MkdirAll(filepath.Dir(library), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int64{"whole": librarySize(t), "cut short": librarySize(t) - 1} {
		if err := errors.Join(os.WriteFile(library, nil, 0o644), os.Truncate(library, size)); err != nil {
			t.Fatal(err)
		}
		stdout, stderr, code := runFetch(t, cache, map[string]string{"npm": npmMustNotRun})
		if name == "whole" && (code != 0 || stdout != library+"\n" || stderr != "") {
			t.Errorf("whole: exit %d, %q, %q; want its path alone", code, stdout, stderr)
		}
		if name == "cut short" && (code == 0 || !strings.Contains(stderr, "npm was run")) {
			t.Errorf("cut short: exit %d, %q; want it to be brought again", code, stderr)
		}
	}
}

// TestFetchWithoutNetwork runs the script as a package's scripts do, and on a machine
// that cannot reach a registry.
func TestFetchWithoutNetwork(t *testing.T) {
	archive := filepath.Join(t.TempDir(), "brought.tgz")
	if err := os.WriteFile(archive, []byte("something else"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ arg, want string }{
		{"-n", libraryName + " is not there"},
		{"/nowhere/lib.tgz", "the archive /nowhere/lib.tgz does not exist"},
		{archive, "it was not unpacked"},
	} {
		cache := t.TempDir()
		stdout, stderr, code := runFetch(t, cache, map[string]string{"npm": npmMustNotRun}, c.arg)
		if code != 1 || stdout != "" || !strings.Contains(stderr, c.want) || strings.Contains(stderr, "npm was run") {
			t.Errorf("%s: exit %d, output %q, message %q; want 1, nothing and a message with %q", c.arg, code, stdout, stderr, c.want)
		}
		if left, err := filepath.Glob(filepath.Join(cache, "*", "*")); err != nil || len(left) != 0 {
			t.Errorf("%s: it left %q behind, error %v", c.arg, left, err)
		}
	}
}

func TestFetchSaysWhatIsWrong(t *testing.T) {
	for name, test := range map[string]struct {
		fakes map[string]string
		want  string
	}{
		"other processor": {
			map[string]string{"uname": uname("Linux", "riscv64"), "npm": npmMustNotRun},
			"Linux on riscv64; set ERRATA_CLICKHOUSE_DSN",
		},
		"other system": {
			map[string]string{"uname": uname("Plan9", "x86_64"), "npm": npmMustNotRun},
			"Plan9 on x86_64; set ERRATA_CLICKHOUSE_DSN",
		},
		"musl": {
			map[string]string{"ldd": "echo 'musl libc (x86_64)' >&2; exit 1", "npm": npmMustNotRun},
			"has musl; set ERRATA_CLICKHOUSE_DSN",
		},
		"no network": {
			map[string]string{"npm": "echo 'npm error network' >&2; exit 1"},
			"npm could not download @chdb/lib-linux-x64-gnu@" + libchdbVersion,
		},
		"another archive": {
			map[string]string{"npm": "echo something else >lib.tgz"},
			"it was not unpacked",
		},
		"no archive": {
			map[string]string{"npm": "true"},
			"npm left no archive",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cache := t.TempDir()
			stdout, stderr, code := runFetch(t, cache, test.fakes)
			if code != 1 || stdout != "" || !strings.Contains(stderr, test.want) {
				t.Errorf("exit %d, output %q, message %q; want 1, nothing and a message with %q", code, stdout, stderr, test.want)
			}
			left, err := filepath.Glob(filepath.Join(cache, "*", "*"))
			if err != nil || len(left) != 0 {
				t.Errorf("it left %q behind, error %v", left, err)
			}
		})
	}
}
