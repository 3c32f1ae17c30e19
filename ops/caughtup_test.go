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

// TestCaughtUp: a node shows its records once they were at most 5 s behind the log, and from then
// on for as long as they can follow it.
func TestCaughtUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			up, opened = false, 0
			status     projector.Status
			last       = uint64(1000)
			doing      string
			undecided  error
		)
		c := StartCaughtUp(CaughtUpConfig{
			Up: func() bool { return up }, Projection: func() projector.Status { return status }, Last: func(context.Context) (uint64, error) { return last, nil },
			Doing: func() string { return doing }, Undecided: func() error { return undecided },
			Opened: func(context.Context) error { opened++; return nil }, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		})
		defer func() {
			if err := c.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		shows := func(when string, after time.Duration, want bool) {
			t.Helper()
			time.Sleep(after) // reason: the clock of the bubble, on which nothing waits.
			synctest.Wait()
			if err := c.Err(); (err == nil) != want || !want && errata.KindOf(err) != errata.KindStoreUnavailable {
				t.Errorf("%s: shows its records: %v, want %v", when, err, want)
			}
		}
		shows("ClickHouse is away", time.Minute, false)
		up, status.Checkpoint.Sequence = true, 900
		shows("100 facts behind", time.Second, false)
		doing = "takes the records of node b: 1 of 2 MB"
		if err := c.Err(); !strings.Contains(err.Error(), doing) {
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
