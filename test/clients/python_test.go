//go:build clients

package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/errata-log/errata/test/servicetest"
)

// The packages of the Python application, and their dependencies. With brotli
// installed the SDK sends br.
var pythonPackages = []string{"sentry-sdk==2.75.0", "brotli==1.1.0"}

func TestSentryPython(t *testing.T) {
	python := pythonWith(t, pythonPackages...)
	for _, f := range []struct{ compression, pii, ip string }{{"br", "yes", "203.0.113.9"}, {"gzip", "no", ""}} {
		t.Run(f.compression, func(t *testing.T) {
			s := start(t)
			s.own = "app.py"
			env := []string{"DSN=" + s.DSN(t, s.URL), "COMPRESSION=" + f.compression, "PII=" + f.pii}
			if r := servicetest.Run(t, env, python, "testdata/app.py", "capture"); r.Code != 0 {
				t.Errorf("%d %s", r.Code, r.Output)
			}
			if r := servicetest.Run(t, env, python, "testdata/app.py", "throw"); r.Code != 1 || !strings.Contains(r.Output, "KeyError: 'tea'") {
				t.Errorf("an error that nobody catches: %d %s", r.Code, r.Output)
			}
			ordered := fields{
				Type: "database", Level: "error", Class: "OrderError", Message: "order 42 failed", Count: 2, Handled: "yes",
				Chain: []string{"KeyError: 'sku'", "OrderError: order 42 failed"},
			}.thrown("app.py", servicetest.Place(t, "app.py", "nested"), "load").checkout().shop("sentry")
			ordered.IP = f.ip
			s.check(t, ordered,
				fields{Level: "info", Message: "queue is full", Chain: []string{""}}.thrown("app.py", servicetest.Place(t, "app.py", "message"), "<module>").shop("sentry"),
				fields{Level: "error", Class: "KeyError", Message: "'tea'", Handled: "no", Chain: []string{"KeyError: 'tea'"}}.
					thrown("app.py", servicetest.Place(t, "app.py", "unhandled"), "boom").shop("sentry"),
			)
		})
	}
}

func TestSentryPythonWithLogs(t *testing.T) {
	python := pythonWith(t, pythonPackages...)
	for _, stack := range []string{"no", "yes"} {
		s := start(t)
		if r := servicetest.Run(t, []string{"DSN=" + s.DSN(t, s.URL), "STACK=" + stack}, python, "testdata/logs.py"); r.Code != 0 {
			t.Errorf("%d %s", r.Code, r.Output)
		}
		var got []string
		for _, r := range s.records(t) {
			got = append(got, fmt.Sprintf("%d %s %s %s", r.Count, r.Payload.Source, r.Class, r.Message))
		}
		slices.Sort(got)
		want := []string{"1 sentry KeyError 'sku'", "1 sentry-log  only a log", "120 sentry  loop", "3 sentry  payment of order 0 failed"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("with a stack: %s (-want +got):\n%s", stack, diff)
		}
	}
}

// pythonWith is a Python with packages, made once in the cache folder.
func pythonWith(t *testing.T, packages ...string) string {
	t.Helper()
	cache := os.Getenv("ERRATA_CACHE")
	if cache == "" {
		folder, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(folder, "errata")
	}
	venv := filepath.Join(cache, "python-"+strings.NewReplacer("==", "-", " ", "_").Replace(strings.Join(packages, "_")))
	python, done := filepath.Join(venv, "bin", "python"), filepath.Join(venv, "installed")
	if _, err := os.Stat(done); err == nil {
		return python
	}
	if r := servicetest.Run(t, nil, servicetest.Program(t, "python3", "python3 python3-venv"), "-m", "venv", "--clear", venv); r.Code != 0 {
		t.Fatalf("python3 makes no environment (apt-get install -y python3-venv): %s", r.Output)
	}
	if r := servicetest.Run(t, nil, python, append([]string{"-m", "pip", "install", "--quiet", "--no-input"}, packages...)...); r.Code != 0 {
		t.Fatalf("pip does not get %v; the package index must answer for this test, or %s must have been made before: %s", packages, venv, r.Output)
	}
	if err := os.WriteFile(done, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return python
}
