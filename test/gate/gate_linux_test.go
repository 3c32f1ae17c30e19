package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/errata-log/errata/test/product"
	"github.com/errata-log/errata/test/testenv"
)

// patience multiplies the time limits: tests of other packages run meanwhile.
const patience = 6

// build makes the service once for all tests of the package.
func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	binary, err := product.Build(t.Context(), "../..", "errata", dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(testenv.EngineBinary(t), filepath.Join(dir, "errata-engine")); err != nil {
		t.Fatal(err)
	}
	return binary
}

// newTestGate is a gate that needs no root.
func newTestGate(t *testing.T, binary string) *gate {
	t.Helper()
	dir := t.TempDir()
	g := &gate{
		binary: binary, dir: filepath.Join(dir, "run"), out: filepath.Join(dir, "out"), form: "short",
		seed: uint64(time.Now().UnixNano()) % 1_000_000_007, slack: patience, pace: 20 * time.Millisecond,
		batch: 20, problems: 100, parallel: 2, past: 400, http: &http.Client{}, print: t.Output(),
	}
	t.Logf("seed %d", g.seed)
	for _, d := range []string{g.dir, g.out} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if g.journal, err = newJournal(filepath.Join(g.out, "referee.ndjson.gz")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.journal.close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// testDamages are the kinds of damage that every change is tested with.
const testDamages = "flip: log index.db,flip: log block last,flip: part data"

// TestGateWithoutRoot is the part of the gate for every change: kills, freezes,
// and damage in some kinds of files. "make gate" has the rest.
func TestGateWithoutRoot(t *testing.T) {
	binary := build(t)
	for name, run := range map[string]func(ctx context.Context, g *gate, seed uint64) error{
		"kills": func(ctx context.Context, g *gate, seed uint64) error {
			return g.dealAll(ctx, seed, "kills", 1, []way{ways[2], ways[4]})
		},
		"damage": func(ctx context.Context, g *gate, seed uint64) error {
			g.damage = testDamages
			return runDamage(ctx, g, seed)
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newTestGate(t, binary)
			if err := run(t.Context(), g, g.seed); err != nil {
				t.Fatal(err)
			}
			if len(g.results) == 0 {
				t.Fatal("nothing was tried")
			}
			for _, r := range g.results {
				for _, violation := range r.Violations {
					t.Errorf("%s, seed %d: %s", r.Fault, r.Seed, violation)
				}
			}
		})
	}
	t.Run("sees loss", func(t *testing.T) { seesLoss(t, newTestGate(t, binary)) })
}

// seesLoss: a gate reports a service that has lost an accepted event.
func seesLoss(t *testing.T, g *gate) {
	s, err := g.newService("loss", filepath.Join(g.dir, "loss"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.kill()
	x, err := g.newSession(t.Context(), s, g.seed)
	if err != nil {
		t.Fatal(err)
	}
	x.load(t.Context())
	x.loadUntil(t.Context(), 50, loadTime)
	r := &Result{}
	x.verify(t.Context(), r)
	if len(r.Violations) > 0 {
		t.Fatalf("without a fault: %v", r.Violations)
	}
	never := x.ledger.World.Event(77, 0) // the service never got it
	x.ledger.Accept(append(x.ledger.Doubtful(), never))
	if x.compare(t.Context(), r); r.Lost != 1 || len(r.Violations) == 0 {
		t.Errorf("one event that was accepted is not there: %+v", r)
	}
}

// A full gate probes more than a thousand times. A class that is too long is cut,
// and a search for a class also finds every longer one with the same beginning.
func TestProbesAreProblemsOfTheirOwn(t *testing.T) {
	const shortEnough = 64
	seen := map[string]int{}
	for n := range 5000 {
		class := probeClass + letters(n)
		if other, twice := seen[class]; twice || len(class) != len(probeClass+letters(0)) || len(class) > shortEnough {
			t.Fatalf("probe %d is %q, and probe %d too", n, class, other)
		}
		seen[class] = n
	}
}
