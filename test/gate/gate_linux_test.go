package main

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/errata-log/errata/internal/testenv"
)

// patience is on the limits of time: tests of other packages run meanwhile.
const patience = 6

// newTestGate is a gate that needs no root, on a service built from source.
func newTestGate(t *testing.T) *gate {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, "errata")
	build := exec.Command("go", "build", "-o", binary, "../../cmd/errata")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the service: %v\n%s", err, out)
	}
	if err := os.Symlink(testenv.EngineBinary(t), filepath.Join(dir, "errata-engine")); err != nil {
		t.Fatal(err)
	}
	g := &gate{
		binary: binary, dir: filepath.Join(dir, "run"), out: filepath.Join(dir, "out"), form: "short",
		seed: uint64(time.Now().UnixNano()) % 1_000_000_007, slack: patience,
		batch: 20, problems: 100, parallel: 2, past: 400, http: &http.Client{}, print: t.Output(),
	}
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

// TestGateWithoutRoot is the part of the gate that every change passes: kills,
// freezes, and damage in some kinds of files. "make gate" has the rest.
func TestGateWithoutRoot(t *testing.T) {
	g := newTestGate(t)
	t.Logf("seed %d", g.seed)
	for _, part := range []struct {
		name string
		run  func(ctx context.Context, g *gate, seed uint64) error
	}{
		{"kills", func(ctx context.Context, g *gate, seed uint64) error {
			return g.dealAll(ctx, seed, "kills", 1, []way{ways[2], ways[4]})
		}},
		{"damage", func(ctx context.Context, g *gate, seed uint64) error {
			g.damage = "flip: log index.db"
			return runDamage(ctx, g, seed)
		}},
	} {
		if err := part.run(t.Context(), g, g.seed); err != nil {
			t.Fatalf("%s: %v", part.name, err)
		}
	}
	if len(g.results) == 0 {
		t.Fatal("nothing was tried")
	}
	for _, r := range g.results {
		for _, violation := range r.Violations {
			t.Errorf("%s, seed %d: %s", r.Fault, r.Seed, violation)
		}
	}
}

// TestGateSeesLoss: a gate whose service has lost an accepted event says so.
func TestGateSeesLoss(t *testing.T) {
	g := newTestGate(t)
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
	never := x.ledger.World.Event(77, 0) // the service has not heard of it
	x.ledger.Accept(append(x.ledger.Doubtful(), never))
	if x.compare(t.Context(), r); r.Lost != 1 || len(r.Violations) == 0 {
		t.Errorf("one event that was accepted is not there: %+v", r)
	}
}
