//go:build clients

package clients

import (
	"strings"
	"testing"

	"github.com/errata-log/errata/test/servicetest"
)

func TestSentryNode(t *testing.T) {
	s := start(t)
	env := []string{"DSN=" + s.DSN(t, s.URL)}
	app := func(do string) servicetest.Ran {
		return node(t, env, "--import", "./testdata/node-init.mjs", "./testdata/node.mjs", do)
	}
	if r := app("capture"); r.Code != 0 {
		t.Errorf("%d %s", r.Code, r.Output)
	}
	if r := app("throw"); r.Code != 1 || !strings.Contains(r.Output, "TypeError: Cannot read properties") {
		t.Errorf("an error that nobody catches: %d %s", r.Code, r.Output)
	}
	app("reject")
	const file = "test/clients/testdata/node.mjs"
	in := func(f fields, mark, function string) fields {
		return f.thrown(file, servicetest.Place(t, "node.mjs", mark), function)
	}
	ordered := in(fields{
		Type: "database", Level: "error", Class: "OrderError", Message: "order 42 failed", Count: 2, Handled: "yes",
		Chain: []string{"TypeError: Cannot read properties of undefined (reading 'sku')", "OrderError: order 42 failed"},
	}, "nested", "load").checkout().shop("sentry")
	ordered.IP = "198.51.100.7" // it replaces the user's address by the forwarded one
	s.check(t, ordered,
		in(fields{Level: "info", Message: "queue is full", Count: 2, Handled: "yes", Chain: []string{": queue is full"}}, "message", "checkout").shop("sentry"),
		in(fields{
			Level: "fatal", Class: "TypeError", Message: "Cannot read properties of undefined (reading 'count')", Handled: "no",
			Chain: []string{"TypeError: Cannot read properties of undefined (reading 'count')"},
		}, "unhandled", "boom").shop("sentry"),
		in(fields{Level: "error", Class: "RangeError", Message: "nobody waits", Handled: "no", Chain: []string{"RangeError: nobody waits"}},
			"rejected", "?").shop("sentry"),
	)
}
