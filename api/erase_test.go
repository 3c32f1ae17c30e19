package api_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
)

const erasePath = "/api/v1/admin/ops/erase"

// eraser notes its calls.
type eraser struct {
	users, addresses []string
	cut              bool
	asked            int
	err              error
}

func (e *eraser) Erase(_ context.Context, users, addresses []string, cut bool) (errata.Changed, error) {
	e.users, e.addresses, e.cut = users, addresses, cut
	e.asked++
	return errata.Changed{System: 2, Database: 1}, e.err
}

func TestErase(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.OpsErase)
	w := b.do(request{method: "POST", target: erasePath, key: key,
		body: `{"users":["u-77","12"],"addresses":["10.0.0.1"],"cut_log":true}`, headers: []string{"Content-Type: application/json"}})
	golden(t, "erase", w)
	if !slices.Equal(b.erasures.users, []string{"u-77", "12"}) || !slices.Equal(b.erasures.addresses, []string{"10.0.0.1"}) || !b.erasures.cut {
		t.Errorf("asked for %+v", b.erasures)
	}
	b.erasures.err = errata.Errorf(errata.KindAlreadyRunning, "a replay reads the log")
	if w := b.do(request{method: "POST", target: erasePath, key: key, body: `{"users":["x"]}`, headers: []string{"Content-Type: application/json"}}); w.Code != 409 {
		t.Errorf("beside a replay: got %d, want 409", w.Code)
	}
}

// TestEraseNamesSomebody: the user "nobody" cannot be erased, because most
// records have it.
func TestEraseNamesSomebody(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.OpsErase)
	many := `{"users":["a"` + strings.Repeat(`,"a"`, 100) + `]}`
	for _, c := range []struct{ body, code string }{
		{`{}`, "invalid_entry"},
		{`{"users":[],"addresses":[]}`, "invalid_entry"},
		{`{"users":[""]}`, "invalid_entry"},
		{`{"users":["0"]}`, "invalid_entry"},
		{`{"users":["-0"]}`, "invalid_entry"},
		{`{"users":["` + strings.Repeat("x", 257) + `"]}`, "invalid_entry"},
		{many, "invalid_entry"},
		{`{"addresses":["0.0.0.0"]}`, "invalid_ip"},
		{`{"addresses":["::"]}`, "invalid_ip"},
		{`{"addresses":["::ffff:0.0.0.0"]}`, "invalid_ip"},
		{`{"addresses":["10.0.0.0/8"]}`, "invalid_ip"},
		{`{"users":7}`, "invalid_body"},
	} {
		w := b.do(request{method: "POST", target: erasePath, key: key, body: c.body, headers: []string{"Content-Type: application/json"}})
		if got := code(t, w); got != c.code {
			t.Errorf("%.60s: got %d %s, want %s", c.body, w.Code, got, c.code)
		}
	}
	if b.erasures.asked != 0 {
		t.Errorf("%d refused requests were carried out", b.erasures.asked)
	}
}
