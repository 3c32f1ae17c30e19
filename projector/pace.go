package projector

import (
	"time"

	"github.com/errata-log/errata/internal/proc"
)

const (
	// minPause is the least time between an insert and the next one. With ten inserts a
	// second a table has 5 to 12 parts.
	minPause = 100 * time.Millisecond
	// maxPeriod is the time between the starts of two inserts when the processors have no
	// time left. A batch takes more facts meanwhile, and one large insert costs far less
	// than several small ones. With half a second one event in a hundred is not in the list
	// after 400 ms, at half of the highest rate.
	maxPeriod = 350 * time.Millisecond
	// easyShare is up to which busy share of the processors inserts follow each other as
	// fast as minPause lets them, and fullShare from which on they wait for maxPeriod.
	easyShare, fullShare = 0.6, 0.95
	// unknownShare stands for the busy share where the system does not tell it.
	unknownShare = 0.75
)

// pace decides when the next insert starts: soon while the processors have time, later
// when senders need it.
type pace struct {
	read func() (proc.Processors, error)
	then proc.Processors
	ok   bool // then is known
}

func newPace() *pace {
	p := &pace{read: proc.ReadProcessors}
	p.busy()
	return p
}

// busy is the share of the time since the last call in which the processors had work.
func (p *pace) busy() float64 {
	now, err := p.read()
	before, known := p.then, p.ok && err == nil
	p.then, p.ok = now, err == nil
	if !known {
		return unknownShare
	}
	return now.BusySince(before)
}

// rest is the time from the end of an insert that took so long to the start of the next.
func (p *pace) rest(took time.Duration) time.Duration { return restAfter(took, p.busy()) }

func restAfter(took time.Duration, busy float64) time.Duration {
	load := min(max((busy-easyShare)/(fullShare-easyShare), 0), 1)
	period := minPause + time.Duration(load*float64(maxPeriod-minPause))
	return max(period-took, minPause)
}
