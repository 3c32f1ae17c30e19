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

// TestCaughtUp: a node shows its records once they were at most 5 s behind the log, and from then
// on for as long as they can follow it.
func TestCaughtUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			mu         sync.Mutex // held by the test but while the clock runs
			up, opened = false, 0
			status     projector.Status
			last       = uint64(1000)
			doing      string
			undecided  error
		)
		locked := func(do func()) { mu.Lock(); defer mu.Unlock(); do() }
		c := StartCaughtUp(CaughtUpConfig{
			Up:         func() (is bool) { locked(func() { is = up }); return is },
			Projection: func() (now projector.Status) { locked(func() { now = status }); return now },
			Last:       func(context.Context) (at uint64, _ error) { locked(func() { at = last }); return at, nil },
			Doing:      func() (what string) { locked(func() { what = doing }); return what },
			Undecided:  func() (why error) { locked(func() { why = undecided }); return why },
			Opened:     func(context.Context) error { locked(func() { opened++ }); return nil },
			Now:        time.Now, Logger: slog.New(slog.DiscardHandler),
		})
		defer func() {
			if err := c.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		shows := func(when string, after time.Duration, want bool) {
			t.Helper()
			mu.Unlock()
			time.Sleep(after) // reason: the clock of the bubble, on which nothing waits.
			synctest.Wait()
			err := c.Err()
			mu.Lock()
			if (err == nil) != want || !want && errata.KindOf(err) != errata.KindStoreUnavailable {
				t.Errorf("%s: shows its records: %v, want %v", when, err, want)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		shows("ClickHouse is away", time.Minute, false)
		up, status.Checkpoint.Sequence = true, 900
		shows("100 facts behind", time.Second, false)
		doing = "takes the records of node b: 1 of 2 MB"
		mu.Unlock()
		err := c.Err()
		mu.Lock()
		if !strings.Contains(err.Error(), doing) {
			t.Errorf("it says %v, and not %q", err, doing)
		}
		doing, last = "", 2000
		shows("the others go on", 2*shownLag, false)
		status.Checkpoint.Sequence = 1000
		shows("it has what there was more than 5 s ago", 2*shownLag, false)
		last, status.Checkpoint.Sequence = 2500, 2000
		shows("it has what there was within 5 s", caughtUpPause, true)
		last = 9000
		shows("far behind, by much load", time.Hour, true)
		status.Err = errors.New("ClickHouse is away")
		shows("ClickHouse is away in between", time.Minute, true)
		status.Err = projector.ErrHistoryLost
		shows("facts were purged that it lacks", time.Second, false)
		status.Checkpoint.Sequence = 9000
		shows("it still lacks them", time.Minute, false)
		status.Err = nil
		shows("it has the tables of another node", time.Second, true)
		status.Err = projector.ErrHistoryLost
		shows("facts were purged once more", time.Second, false)
		status.Err, status.Checkpoint.Sequence, undecided = errors.New("a gap"), 8000, errors.New("a gap")
		shows("an operator has to decide about a gap", time.Second, true)
		if opened != 3 {
			t.Errorf("it has caught up %d times, want 3", opened)
		}
	})
}

func TestAServiceOfItsOwnAlwaysShows(t *testing.T) {
	var c *CaughtUp
	if err := errors.Join(c.Err(), c.Ready(t.Context())); err != nil {
		t.Error(err)
	}
}
