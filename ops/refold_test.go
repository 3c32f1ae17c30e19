package ops

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/projector"
)

// TestRefold: records of an older version are made again once, with patience but not
// by force, and only by the one node that writes them.
func TestRefold(t *testing.T) {
	older := projector.Checkpoint{Row: 7, Sequence: 7}
	now := projector.Checkpoint{Row: 7, Sequence: 7, Fold: projector.FoldVersion}
	busy := errata.Errorf(errata.KindAlreadyRunning, "a replay is running")
	for _, c := range []struct {
		name    string
		at      projector.Checkpoint
		sole    bool
		answers []error // of the replays
		replays int
		told    string
	}{
		{"up to date", now, true, nil, 0, ""},
		{"no records yet", projector.Checkpoint{}, true, nil, 0, ""},
		{"older", older, true, []error{nil}, 1, "made the records again"},
		{"older, with other nodes", older, false, nil, 0, "stop the others first"},
		{"a replay runs already", older, true, []error{busy, busy, nil}, 3, "a replay is running"},
		{"the log has other records", older, true, []error{errata.Errorf(errata.KindProjectionDiffers, "they differ")}, 1, "they differ"},
		{"the log was purged", older, true, []error{errata.Errorf(errata.KindHistoryIncomplete, "it was purged")}, 1, "it was purged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log strings.Builder
				at, asked, replays := c.at, 0, 0
				r := NewRefold(RefoldConfig{
					Checkpoint: func(context.Context) (projector.Checkpoint, error) {
						if asked++; asked == 1 {
							return projector.Checkpoint{}, errors.New("ClickHouse is away")
						}
						return at, nil
					},
					Replay: func(_ context.Context, force bool) (ReplayResult, error) {
						if force {
							t.Error("it takes what differs")
						}
						err := c.answers[replays]
						if replays++; err == nil {
							at = now
						}
						return ReplayResult{}, err
					},
					Sole: c.sole, Logger: slog.New(slog.NewTextHandler(&log, nil)),
				})
				r.Start()
				time.Sleep(time.Hour) // reason: the clock is the test's own
				r.Start()
				synctest.Wait()
				if err := r.Stop(context.WithoutCancel(t.Context())); err != nil {
					t.Error(err)
				}
				if replays != c.replays || !strings.Contains(log.String(), c.told) || !strings.Contains(log.String(), "away") {
					t.Errorf("%d replays, want %d and %q told:\n%s", replays, c.replays, c.told, log.String())
				}
			})
		})
	}
}

// TestRefoldStops: a stop ends the replay under way.
func TestRefoldStops(t *testing.T) {
	begun := make(chan struct{})
	r := NewRefold(RefoldConfig{
		Checkpoint: func(context.Context) (projector.Checkpoint, error) { return projector.Checkpoint{Row: 1}, nil },
		Replay: func(ctx context.Context, _ bool) (ReplayResult, error) {
			close(begun)
			<-ctx.Done()
			return ReplayResult{}, ctx.Err()
		},
		Sole: true, Logger: slog.New(slog.DiscardHandler),
	})
	r.Start()
	<-begun
	if err := r.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}
