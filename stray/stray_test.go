package stray_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/stray"
)

// A stray counts once, for any number of readers and reports.
func TestEachStrayCountsOnce(t *testing.T) {
	registry := prometheus.NewRegistry()
	c, err := stray.New(registry, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Check(t.Context()); !got.OK || got.Hint != "" {
		t.Errorf("before anything: %+v", got)
	}
	for range 2 {
		for _, reader := range []func(uint64, error){c.In("log"), c.In("log")} {
			reader(7, errors.New("no JSON"))
			reader(8, errors.New("no JSON"))
		}
		c.In("audit")(7, nil)
	}
	c.In("keys")
	got, want := c.Check(t.Context()), "left out since this start: 1 in audit, 2 in log"
	if got.OK || got.Detail != want || !strings.Contains(got.Hint, "passwords") {
		t.Errorf("%+v, want %q", got, want)
	}
	families, err := registry.Gather()
	if err != nil || len(families) != 1 || families[0].GetName() != "errata_unreadable_facts_total" {
		t.Fatalf("metrics %v, error %v", families, err)
	}
	told := map[string]float64{}
	for _, m := range families[0].GetMetric() {
		told[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
	}
	if want := map[string]float64{"log": 2, "audit": 1, "keys": 0}; !maps.Equal(told, want) {
		t.Errorf("the metric says %v, want %v", told, want)
	}
	if _, err := stray.New(registry, nil); err == nil {
		t.Error("a registry serves one counter")
	}
}
