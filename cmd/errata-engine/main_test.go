//go:build linux && amd64

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/internal/testenv"
)

// How it ends tells the parent what is wrong; that it serves is tested with
// package engine.
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
