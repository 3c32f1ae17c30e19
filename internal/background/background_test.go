package background_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/errata-log/errata/internal/background"
)

var errAway = errors.New("it is away")

// bubble runs a test with a clock of its own. A goroutine that outlives it fails it.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

func TestRunnerStopsWhatItStarted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var r background.Runner
		if err := r.Stop(t.Context()); err != nil || r.Started() {
			t.Errorf("a Runner that was not started: stop %v, started %v", err, r.Started())
		}
		begun := make(chan int, 8)
		part := func(n int) func(context.Context) {
			return func(ctx context.Context) { begun <- n; <-ctx.Done() }
		}
		for range 2 { // it can be started again
			r.Start(part(1), part(2), func(context.Context) {}) // one ends by itself
			r.Start(part(3))                                    // it is started
			synctest.Wait()
			if got := []int{<-begun, <-begun}; !slices.Contains(got, 1) || !slices.Contains(got, 2) || len(begun) > 0 {
				t.Fatalf("began %v and %d more, want 1 and 2", got, len(begun))
			}
			if err := r.Stop(t.Context()); err != nil || r.Started() {
				t.Errorf("stop: %v, started %v", err, r.Started())
			}
			if err := r.Stop(t.Context()); err != nil {
				t.Errorf("second stop: %v", err)
			}
		}
	})
}

func TestStopWaitsAsLongAsItMay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var r background.Runner
		r.Start(func(ctx context.Context) {
			<-ctx.Done()
			time.Sleep(10 * time.Second) // reason: the clock is the test's own; a part that ends late
		})
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Stop(short); !errors.Is(err, context.DeadlineExceeded) || !r.Started() {
			t.Errorf("stop within 1 s: %v, started %v", err, r.Started())
		}
		if err := r.Stop(t.Context()); err != nil || r.Started() {
			t.Errorf("stop: %v, started %v", err, r.Started())
		}
	})
}

// moments runs a loop for some time and returns when it did its work.
func moments(t *testing.T, l background.Loop, during time.Duration) (at []time.Duration) {
	t.Helper()
	began, do := time.Now(), l.Do
	l.Do = func(ctx context.Context) error {
		at = append(at, time.Since(began))
		return do(ctx)
	}
	ctx, cancel := context.WithTimeout(t.Context(), during)
	defer cancel()
	l.Run(ctx)
	return at
}

func TestLoopRepeats(t *testing.T) {
	bubble(t, func(t *testing.T) {
		at := moments(t, background.Loop{Every: time.Second, Do: func(context.Context) error { return nil }}, 2500*time.Millisecond)
		if want := []time.Duration{0, time.Second, 2 * time.Second}; !slices.Equal(at, want) {
			t.Errorf("done at %v, want %v", at, want)
		}
		second := background.Pauses{First: time.Second, Most: time.Second}
		if at = moments(t, background.Loop{Pauses: second, Do: func(context.Context) error { return nil }}, 1500*time.Millisecond); len(at) != 2 {
			t.Errorf("without Every done at %v, want twice", at)
		}
		at = moments(t, background.Loop{Every: time.Second, Do: func(context.Context) error { return errAway }}, 1500*time.Millisecond)
		if want := []time.Duration{0, time.Second}; !slices.Equal(at, want) {
			t.Errorf("failed at %v, want %v", at, want)
		}
		now := make(chan struct{}, 1)
		now <- struct{}{}
		at = moments(t, background.Loop{Every: time.Second, Now: now, Do: func(context.Context) error { return nil }}, 1500*time.Millisecond)
		if want := []time.Duration{0, 0, time.Second}; !slices.Equal(at, want) {
			t.Errorf("with a signal done at %v, want %v", at, want)
		}
	})
}

func TestLoopBacksOff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var rows []int
		reached := 0
		l := background.Loop{
			Pauses:  background.Pauses{First: 50 * time.Millisecond, Most: 300 * time.Millisecond},
			Reached: func() any { return reached },
			Failed:  func(_ error, row int) { rows = append(rows, row) },
		}
		l.Do = func(context.Context) error {
			if len(rows) == 4 {
				reached++ // and fails all the same
			}
			return errAway
		}
		at := moments(t, l, 2*time.Second)
		if want := []int{1, 2, 3, 4, 1, 2}; !slices.Equal(rows[:6], want) {
			t.Fatalf("failures in a row %v, want %v to begin with", rows, want)
		}
		for i, ms := range []int{50, 100, 200, 300, 50, 100} {
			want := time.Duration(ms) * time.Millisecond
			if got := at[i+1] - at[i]; got < want*4/5 || got > want*6/5+1 {
				t.Errorf("pause %d was %v, want %v give or take a fifth", i+1, got, want)
			}
		}
	})
}

func TestLoopEndsInAPause(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, pauses := range []background.Pauses{{}, {First: time.Hour, Most: time.Hour}} {
			var r background.Runner
			failed := make(chan error, 1)
			r.Start(background.Loop{
				Do: func(context.Context) error { return errAway }, Every: time.Hour, Pauses: pauses,
				Failed: func(err error, _ int) { failed <- err },
			}.Run)
			if err := <-failed; !errors.Is(err, errAway) {
				t.Errorf("told of %v", err)
			}
			synctest.Wait()
			began := time.Now()
			if err := r.Stop(t.Context()); err != nil || time.Since(began) > 0 {
				t.Errorf("stop: %v, after %v", err, time.Since(began))
			}
		}
	})
}

func TestLoopIsStoppedWithoutAFailure(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var r background.Runner
		r.Start(background.Loop{
			Do:     func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			Failed: func(err error, _ int) { t.Errorf("told of %v", err) },
		}.Run)
		synctest.Wait()
		if err := r.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestTellOncePerTrouble(t *testing.T) {
	bubble(t, func(t *testing.T) {
		told := 0
		tell := background.Tell(func(message string, args ...any) {
			if told++; message != "work waits" || len(args) != 4 {
				t.Errorf("told %q %v", message, args)
			}
		}, "work waits")
		for i, step := range []struct {
			err   error
			row   int
			after time.Duration
			told  int
		}{
			{errAway, 1, 0, 1},
			{errAway, 2, time.Second, 1},
			{errors.New("it is back and wrong"), 3, 0, 2},
			{errAway, 4, 0, 3},
			{errAway, 5, 59 * time.Second, 3},
			{errAway, 6, time.Second, 4}, // a minute has passed
			{errAway, 1, time.Second, 5}, // it got on in between
		} {
			time.Sleep(step.after) // reason: the clock is the test's own
			if tell(step.err, step.row); told != step.told {
				t.Fatalf("step %d: told %d times, want %d", i, told, step.told)
			}
		}
	})
}

func TestWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Millisecond)
		defer cancel()
		tries := background.Pauses{First: 50 * time.Millisecond, Most: time.Second}.Begin()
		if !tries.Wait(ctx) {
			t.Error("the first pause ended early")
		}
		if tries.Wait(ctx) || background.Wait(ctx, 0) {
			t.Error("a pause went on although ctx had ended")
		}
	})
}
