//go:build clients

package clients

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// place is the line of a file of testdata that is marked with "HERE name".
func place(t *testing.T, file, name string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasSuffix(line, " HERE "+name) {
			return i + 1
		}
	}
	t.Fatalf("%s has no line for %s", file, name)
	return 0
}

// program is the path of a program that the tests need.
func program(t *testing.T, name, debianPackage string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is missing; install it (apt-get install -y %s), or run make test-clients", name, debianPackage)
	}
	return path
}

// packages fails the test unless those of package.json are installed.
func packages(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("node_modules/.package-lock.json"); err != nil {
		t.Fatalf("the packages of test/clients are not installed; run npm ci in it, or make test-clients (%v)", err)
	}
}

// node runs a program of testdata.
func node(t *testing.T, env []string, args ...string) (output string, code int) {
	t.Helper()
	packages(t)
	return run(t, env, program(t, "node", "nodejs"), args...)
}

// run runs a program in a clean environment until it ends by itself.
func run(t *testing.T, env []string, name string, args ...string) (output string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), never)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), append(env, "NO_COLOR=1")...)
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, text)
	}
	t.Logf("%s %v: %d\n%.1000s", filepath.Base(name), args, cmd.ProcessState.ExitCode(), text)
	return string(text), cmd.ProcessState.ExitCode()
}
