package ops

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/logcare"
	"github.com/errata-log/errata/projector"
)

// newReplayer makes a Replayer with a double for the rebuild.
func newReplayer(history Turn, rebuild func(context.Context, projector.RebuildConfig) (projector.Comparison, error)) *Replayer {
	return NewReplayer(ReplayConfig{
		Ready: func() error { return nil }, Rebuild: rebuild, Replayed: func(context.Context) error { return nil },
		Undecided: func() error { return nil },
		History:   history, Logger: slog.New(slog.DiscardHandler),
	})
}

func TestReplaysOneAtATime(t *testing.T) {
	history, begun := NewTurn(), make(chan struct{})
	r := newReplayer(history, func(ctx context.Context, cfg projector.RebuildConfig) (projector.Comparison, error) {
		cfg.Progress(projector.RebuildProgress{Sequence: 3, Target: 9})
		close(begun)
		<-ctx.Done()
		return projector.Comparison{}, ctx.Err()
	})
	ended := make(chan error, 1)
	go func() {
		_, err := r.Replay(t.Context(), false)
		ended <- err
	}()
	<-begun
	if p := r.Replaying(); !p.Running || p.Sequence != 3 || p.Target != 9 {
		t.Errorf("progress %+v", p)
	}
	if _, err := r.Replay(t.Context(), true); errata.KindOf(err) != errata.KindAlreadyRunning {
		t.Errorf("a second one: %v", err)
	}
	if err := r.Remake(t.Context(), nil); !errors.Is(err, errReplaying) {
		t.Errorf("a remake beside it: %v", err)
	}
	if history.TryAcquire(1) {
		t.Error("the log may be purged meanwhile")
	}
	if err := r.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; errata.KindOf(err) != errata.KindStoreUnavailable {
		t.Errorf("broken off by the stop: %v", err)
	}
	if !history.TryAcquire(1) || r.Replaying().Running {
		t.Error("it still holds the log")
	}
	if _, err := r.Replay(t.Context(), false); errata.KindOf(err) != errata.KindAlreadyRunning {
		t.Errorf("after the stop: %v", err)
	}
}

func TestReplayWaitsForThePurge(t *testing.T) {
	history := NewTurn()
	if !history.TryAcquire(1) {
		t.Fatal("a new turn is held")
	}
	r := newReplayer(history, func(context.Context, projector.RebuildConfig) (projector.Comparison, error) {
		return projector.Comparison{Swapped: true}, nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Replay(ctx, false); errata.KindOf(err) != errata.KindStoreUnavailable {
		t.Errorf("the caller ends while the log is purged: %v", err)
	}
	history.Release(1)
	result, err := r.Replay(t.Context(), false)
	if err != nil || !result.Swapped || result.Differences == nil {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestReplayThatDiffers(t *testing.T) {
	r := newReplayer(NewTurn(), func(_ context.Context, cfg projector.RebuildConfig) (projector.Comparison, error) {
		return projector.Comparison{Swapped: cfg.Force, From: 1, Differences: []string{"records"}}, nil
	})
	_, err := r.Replay(t.Context(), false)
	var told *errata.Error
	if !errors.As(err, &told) || told.Kind != errata.KindProjectionDiffers {
		t.Fatalf("got %v", err)
	}
	if d, ok := told.Details.(ReplayResult); !ok || len(d.Differences) != 1 || d.Swapped {
		t.Errorf("details %+v", told.Details)
	}
	if result, err := r.Replay(t.Context(), true); err != nil || !result.Swapped {
		t.Errorf("with force: %+v, %v", result, err)
	}
}

// The result of a rebuild, with the gaps as callers see them.
func TestReplayResultOnTheWire(t *testing.T) {
	got, err := json.Marshal(ReplayResult{
		Comparison: projector.Comparison{From: 1, Facts: 9, Events: 7, TookMS: 12, PausedMS: 3, Differences: []string{}, Gaps: []eventlog.Gap{{From: 4}}},
		Gaps:       []logcare.Gap{},
	})
	if err != nil {
		t.Fatal(err)
	}
	tally := `{"checkpoint":0,"records":0,"count":0,"payloads":0,"hours":0,"deployed":0,"occurred":0,"records_checksum":"0000000000000000","payloads_checksum":"0000000000000000","hours_checksum":"0000000000000000","deployments_checksum":"0000000000000000","occurrences_checksum":"0000000000000000"}`
	want := `{"swapped":false,"from":1,"facts":9,"events":7,"took_ms":12,"paused_ms":3,"live":` + tally + `,"replayed":` + tally + `,"outdated":false,"differences":[],"gaps":[]}`
	if string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
