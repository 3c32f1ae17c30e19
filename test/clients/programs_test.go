//go:build clients

package clients

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/errata-log/errata/test/servicetest"
)

// packages fails the test unless those of package.json are installed.
func packages(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("node_modules/.package-lock.json"); err != nil {
		t.Fatalf("the packages of test/clients are not installed; run npm ci in it, or make test-clients (%v)", err)
	}
}

// node runs a program of testdata.
func node(t *testing.T, env []string, args ...string) servicetest.Ran {
	t.Helper()
	packages(t)
	return servicetest.Run(t, env, servicetest.Program(t, "node", "nodejs"), args...)
}

// program is [servicetest.Run] for a program that takes longer, beside the test's
// own goroutine.
func program(t *testing.T, env []string, name string, args ...string) (code int, output string) {
	ctx, cancel := context.WithTimeout(t.Context(), buildTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(append(os.Environ(), env...), "NO_COLOR=1")
	text, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		return -1, err.Error()
	}
	return cmd.ProcessState.ExitCode(), string(text)
}
