package stray_test

import (
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/errata-log/errata/stray"
)

// However many readers meet a stray however often, it counts once.
func TestEachStrayCountsOnce(t *testing.T) {
	registry := prometheus.NewRegistry()
	c, err := stray.New(registry, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Summary(); got != "" {
		t.Errorf("before anything: %q", got)
	}
	for range 2 {
		for _, reader := range []func(uint64, error){c.In("log"), c.In("log")} {
			reader(7, errors.New("no JSON"))
			reader(8, errors.New("no JSON"))
		}
		c.In("audit")(7, nil)
	}
	c.In("keys")
	if got, want := c.Summary(), "1 in audit, 2 in log"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if n, err := testutil.GatherAndCount(registry, "errata_unreadable_facts_total"); err != nil || n != 3 {
		t.Errorf("%d streams are told, error %v, want 3", n, err)
	}
	if _, err := stray.New(registry, nil); err == nil {
		t.Error("a registry serves one counter")
	}
}
