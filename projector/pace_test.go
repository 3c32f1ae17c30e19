package projector

import (
	"errors"
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
		{"more than half", 80 * ms, 145 * ms, 0.775},
		{"no time left", 150 * ms, 200 * ms, 0.95},
		{"more than all, as ticks are rounded", 150 * ms, 200 * ms, 1.02},
		{"a long insert lets others in too", 900 * ms, minPause, 1},
	} {
		if got := restAfter(c.took, c.busy); (got - c.want).Abs() > ms {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
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
	if got := p.busy(); got != unknownShare {
		t.Errorf("the first answer after none says %v", got)
	}
	if got := p.busy(); got != 0 {
		t.Errorf("nothing has passed, and the processors were busy for %v of it", got)
	}
}
