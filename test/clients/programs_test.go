//go:build clients

package clients

import (
	"os"
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
