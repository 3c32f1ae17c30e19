package projector_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/projector"
)

// The tidier and a tidy leave a held table alone. It is tidied when it is let go, without the rest
// after a failure.
func TestTidierLeavesHeldTablesAlone(t *testing.T) {
	l := newLedger(t)
	_, stop := l.start()
	l.scatter()
	stop()
	cfg, registry := l.config(), prometheus.NewRegistry()
	cfg.Registerer = registry
	p, clock := l.tidying(cfg, nil)
	l.look(p)
	clock.advance(20 * time.Second)
	release, err := p.Store().Merges().Hold(t.Context(), "records")
	if err != nil {
		t.Fatal(err)
	}
	before := l.partsOf("records")
	for range tables {
		l.look(p)
	}
	if err := p.Store().Tidy(t.Context()); !errors.Is(err, projector.ErrHeld) {
		t.Errorf("a tidy of a held table answers %v", err)
	}
	if names := l.partsOf("records"); len(names) < 2 || !slices.Equal(names, before) {
		t.Errorf("the parts of a held table were %v and are %v", before, names)
	}
	if err := release(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.look(p)
	for _, table := range tables {
		if names := l.partsOf(table); len(names) != 1 {
			t.Errorf("%s has the parts %v", table, names)
		}
		if n := gathered(t, registry, "errata_projection_tidies_total", table); n != 1 {
			t.Errorf("%s: %v tidies in the metric, want 1", table, n)
		}
	}
}

// A hold that comes while a table is being tidied ends that, which is no failure.
func TestHoldEndsATidy(t *testing.T) {
	l := newLedger(t)
	_, stop := l.start()
	l.scatter()
	stop()
	var p *projector.Projector
	var release func(context.Context) error
	cfg := l.config()
	cfg.ClickHouse = heard{Conn: l.ClickHouse, before: func(statement string) (err error) {
		if release == nil && strings.Contains(statement, "OPTIMIZE") {
			release, err = p.Store().Merges().Hold(t.Context(), "records")
		}
		return err
	}}
	p, clock := l.tidying(cfg, nil)
	l.look(p)
	clock.advance(20 * time.Second)
	if err := projector.Look(t.Context(), p); !errors.Is(err, projector.ErrHeld) {
		t.Errorf("the tidier says %v", err)
	}
	if err := release(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.look(p)
	if names := l.partsOf("records"); len(names) != 1 {
		t.Errorf("the parts are %v", names)
	}
}
