package projector

import (
	"slices"
	"time"

	"github.com/errata-log/errata/internal/proc"
)

const (
	// minPause is the least time between an insert and the next one. With ten inserts a
	// second a table has 5 to 12 parts.
	minPause = 100 * time.Millisecond
	// maxPeriod is the time between the starts of two inserts when the processors have no
	// time left. A batch takes more facts meanwhile, and one large insert costs far less
	// than several small ones.
	maxPeriod = 500 * time.Millisecond
	// easyShare is up to which busy share of the processors inserts follow each other as
	// fast as minPause lets them, and fullShare from which on they wait for maxPeriod.
	easyShare, fullShare = 0.6, 0.95
	// lookBack is the time over which the busy share is measured. One insert or one merge
	// makes the processors busy for a moment, which does not mean that they have no time left.
	lookBack = 2 * time.Second
	// unknownShare stands for the busy share where the system does not tell it.
	unknownShare = 0.75
)

// pace decides when the next insert starts: soon while the processors have time, later
// when senders need it.
type pace struct {
	read func() (proc.Processors, error)
	seen []reading // of the last lookBack, oldest first; the last of them is always kept
}

// reading is what the processors had done at a time.
type reading struct {
	at time.Time
	proc.Processors
}

func newPace() *pace {
	p := &pace{read: proc.ReadProcessors}
	p.busy(time.Now())
	return p
}

// busy is the share of the last lookBack, or of the time since the last call if that is longer,
// in which the processors had work.
func (p *pace) busy(at time.Time) float64 {
	now, err := p.read()
	if err != nil {
		p.seen = nil
		return unknownShare
	}
	old := 0
	for old < len(p.seen)-1 && at.Sub(p.seen[old].at) > lookBack {
		old++
	}
	p.seen = append(slices.Delete(p.seen, 0, old), reading{at, now})
	if len(p.seen) == 1 {
		return unknownShare
	}
	return now.BusySince(p.seen[0].Processors)
}

// rest is the time from the end of an insert that took so long to the start of the next.
func (p *pace) rest(took time.Duration) time.Duration { return restAfter(took, p.busy(time.Now())) }

// restAfter grows by the square of the load, so inserts are nearly [maxPeriod] apart only when
// the processors have almost no time left for senders.
func restAfter(took time.Duration, busy float64) time.Duration {
	load := min(max((busy-easyShare)/(fullShare-easyShare), 0), 1)
	period := minPause + time.Duration(load*load*float64(maxPeriod-minPause))
	return max(period-took, minPause)
}
