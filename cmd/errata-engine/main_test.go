//go:build linux && amd64

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/test/testenv"
)

// The exit code tells the parent what is wrong. Package engine tests that the program
// serves.
func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.so")
	if err := os.WriteFile(text, []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	library, err := engine.FindLibrary("")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no arguments":         {nil, 64, "usage: errata-engine LIBRARY DATA RUN OPTION..."},
		"no options":           {[]string{"lib", dir, dir}, 64, "usage: "},
		"library is not there": {[]string{"/nowhere/libchdb.so", dir, dir, "--help"}, 69, "/nowhere/libchdb.so"},
		"library is none":      {[]string{text, dir, dir, "--help"}, 69, "make engine"},
		"library of another":   {[]string{"libc.so.6", dir, dir, "--help"}, 69, "not a libchdb"},
		"unknown option":       {[]string{library, dir, dir, "--no-such-option"}, 70, "no-such-option"},
	} {
		t.Run(name, func(t *testing.T) {
			var stderr strings.Builder
			cmd := exec.Command(testenv.EngineBinary(t), test.args...)
			cmd.Stderr = &stderr
			_ = cmd.Run() // the exit code is looked at
			if got := cmd.ProcessState.ExitCode(); got != test.code || !strings.Contains(stderr.String(), test.want) {
				t.Errorf("exit %d, %q; want %d and %q", got, stderr.String(), test.code, test.want)
			}
		})
	}
}

// TestConfined: the engine cannot read the files outside of its folders, whatever its
// users may call. This test asks it without a user and without the functions that the
// service refuses.
func TestConfined(t *testing.T) {
	library, err := engine.FindLibrary("")
	if err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	data, run := t.TempDir(), t.TempDir()
	inside := filepath.Join(data, "inside")
	if err := os.WriteFile(inside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		inside: true, "/proc/self/stat": true, "/proc/meminfo": true,
		outside: false, "/etc/passwd": false,
		fmt.Sprintf("/proc/%d/environ", os.Getpid()): false, fmt.Sprintf("/proc/%d/cmdline", os.Getpid()): false,
		"/proc/1/environ": false, "/proc/kallsyms": false,
	} {
		cmd := exec.Command(testenv.EngineBinary(t), library, data, run, "--path="+data, "--query=SELECT throwIf(length(file('"+path+"')) = 0)")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatal(err)
		}
		// It prints nothing when a query works.
		if said := string(out); want && said != "" || !want && !strings.Contains(said, "Permission denied") {
			t.Errorf("%s: may be read is %t, and it said: %s", path, want, said)
		}
	}
}
