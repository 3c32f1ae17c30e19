package projector

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/errata-log/errata/internal/proc"
)

func TestRestAfterAnInsert(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name       string
		took, want time.Duration
		busy       float64
	}{
		{"nothing to do", 20 * ms, minPause, 0.1},
		{"half of the time", 80 * ms, minPause, 0.5},
		{"more than half", 80 * ms, 120 * ms, 0.775},
		{"little time left", 80 * ms, 314 * ms, 0.9},
		{"no time left", 150 * ms, 350 * ms, 0.95},
		{"more than all, as ticks are rounded", 150 * ms, 350 * ms, 1.02},
		{"a long insert lets others in too", 900 * ms, minPause, 1},
	} {
		if got := restAfter(c.took, c.busy); (got - c.want).Abs() > ms {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// TestBusyShareOfTheLastSeconds: a moment in which the processors have no time left counts
// only for its part of the last two seconds.
func TestBusyShareOfTheLastSeconds(t *testing.T) {
	var busy, idle int // ticks
	p := pace{read: func() (proc.Processors, error) {
		return proc.ParseProcessors(fmt.Appendf(nil, "cpu %d 0 0 %d 0 0 0 0\n", busy, idle))
	}}
	at := time.Now()
	if got := p.busy(at); got != unknownShare {
		t.Fatalf("the first reading says %v", got)
	}
	for _, c := range []struct {
		name       string
		passed     time.Duration
		busy, idle int
		want       float64
	}{
		{"all of the first time", time.Second, 100, 0, 1},
		{"and nothing of the second", time.Second, 0, 100, 0.5},
		{"the first is two seconds ago", 500 * time.Millisecond, 50, 0, 1. / 3},
		{"all of it in an hour", time.Hour, 36_000, 324_000, 0.1},
		{"the hour is gone", time.Second, 90, 10, 0.9},
	} {
		at, busy, idle = at.Add(c.passed), busy+c.busy, idle+c.idle
		if got := p.busy(at); math.Abs(got-c.want) > 1e-3 {
			t.Errorf("%s: got %.3f, want %.3f", c.name, got, c.want)
		}
	}
}

// TestPaceWithoutProcessors: where the system says nothing, the time is between both ends.
func TestPaceWithoutProcessors(t *testing.T) {
	answer := errors.New("no such file")
	p := pace{read: func() (proc.Processors, error) { return proc.Processors{}, answer }}
	for range 2 {
		if got := p.rest(0); got <= minPause || got >= maxPeriod {
			t.Errorf("got %v", got)
		}
	}
	answer = nil
	if got := p.busy(time.Now()); got != unknownShare {
		t.Errorf("the first answer after none says %v", got)
	}
	if got := p.busy(time.Now()); got != 0 {
		t.Errorf("nothing has passed, and the processors were busy for %v of it", got)
	}
}
