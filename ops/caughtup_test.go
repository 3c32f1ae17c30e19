package ops

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/projector"
)

// follower is what a CaughtUp sees of its node. The test holds mu, but while the clock runs.
type follower struct {
	mu        sync.Mutex
	up        bool
	status    projector.Status
	last      uint64
	doing     string
	undecided error
	opened    int
}

// get reads a field of the follower.
func get[T any](f *follower, of func() T) T {
	f.mu.Lock()
	defer f.mu.Unlock()
	return of()
}

func (f *follower) config() CaughtUpConfig {
	return CaughtUpConfig{
		Up:         func() bool { return get(f, func() bool { return f.up }) },
		Projection: func() projector.Status { return get(f, func() projector.Status { return f.status }) },
		Last:       func(context.Context) (uint64, error) { return get(f, func() uint64 { return f.last }), nil },
		Doing:      func() string { return get(f, func() string { return f.doing }) },
		Undecided:  func() error { return get(f, func() error { return f.undecided }) },
		Opened:     func(context.Context) error { return get(f, func() error { f.opened++; return nil }) },
		Now:        time.Now, Logger: slog.New(slog.DiscardHandler),
	}
}

// TestCaughtUp: a node shows its records once they were at most 5 s behind the log, and from then
// on for as long as they can follow it.
func TestCaughtUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &follower{last: 1000}
		c := StartCaughtUp(f.config())
		defer func() {
			if err := c.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		f.mu.Lock()
		defer f.mu.Unlock()
		shows := func(when string, after time.Duration, want bool) {
			t.Helper()
			f.mu.Unlock()
			time.Sleep(after) // reason: the clock of the bubble, on which nothing waits.
			synctest.Wait()
			err := c.Err()
			f.mu.Lock()
			if (err == nil) != want || !want && (errata.KindOf(err) != errata.KindStoreUnavailable || !strings.Contains(err.Error(), f.doing)) {
				t.Errorf("%s: shows its records: %v, want %v", when, err, want)
			}
		}
		shows("ClickHouse is away", time.Minute, false)
		f.up, f.status.Checkpoint.Sequence = true, 900
		shows("100 facts behind", time.Second, false)
		f.doing = "takes the records of node b: 1 of 2 MB"
		shows("it takes those of another node", time.Second, false)
		f.doing, f.last = "", 2000
		shows("the others go on", 2*shownLag, false)
		f.status.Checkpoint.Sequence = 1000
		shows("it has what there was more than 5 s ago", 2*shownLag, false)
		f.last, f.status.Checkpoint.Sequence = 2500, 2000
		shows("it has what there was within 5 s", caughtUpPause, true)
		f.last = 9000
		shows("far behind, by much load", time.Hour, true)
		f.status.Err = errors.New("ClickHouse is away")
		shows("ClickHouse is away in between", time.Minute, true)
		f.status.Err = projector.ErrHistoryLost
		shows("facts were purged that it lacks", time.Second, false)
		f.status.Checkpoint.Sequence = 9000
		shows("it still lacks them", time.Minute, false)
		f.status.Err = nil
		shows("it has the tables of another node", time.Second, true)
		f.status.Err = projector.ErrHistoryLost
		shows("facts were purged once more", time.Second, false)
		f.status.Err, f.status.Checkpoint.Sequence, f.undecided = errors.New("a gap"), 8000, errors.New("a gap")
		shows("an operator has to decide about a gap", time.Second, true)
		if f.opened != 3 {
			t.Errorf("it has caught up %d times, want 3", f.opened)
		}
	})
}

func TestAServiceOfItsOwnAlwaysShows(t *testing.T) {
	var c *CaughtUp
	if err := errors.Join(c.Err(), c.Ready(t.Context())); err != nil {
		t.Error(err)
	}
}
