package ops_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/ops"
)

// A step that is tried again registers its metrics again; those of the steps before it stay.
func TestAStepRegistersAgain(t *testing.T) {
	registry := prometheus.NewRegistry()
	a := ops.NewAttempts(registry)
	counter := func(name string) prometheus.Collector {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: "of a test"})
	}
	a.MustRegister(counter("before"))
	a.Keep()
	for range 3 {
		if err := a.Register(counter("again")); err != nil {
			t.Fatal(err)
		}
		a.MustRegister(counter("too"))
		a.Undo()
	}
	a.MustRegister(counter("again"))
	a.Keep()
	a.Undo()
	if err := a.Register(counter("before")); err == nil {
		t.Error("a metric of an earlier step is not there any more")
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if len(families) != 2 {
		t.Errorf("%d metrics are there, want those of both steps", len(families))
	}
}
