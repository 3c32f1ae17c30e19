package ordered

import (
	"sync/atomic"
	"time"
)

const (
	// stillPause is the time between two looks at a consumer that has more messages. It stands
	// still when the reader waited for the same message at both. While that is so with one
	// consumer after another, as in a damaged log, the time is doubled, up to stillMost.
	stillPause = time.Second
	stillMost  = alone
)

// still finds a consumer that has more messages and gives none. Heartbeats find it too, but much
// later where an idle service shall not be woken for them.
//
// One reason is in the server: when the messages of a pull have exactly as many bytes as were
// asked for, the server ends the pull and tells nobody, and the client waits for the rest of it.
type still struct {
	more    atomic.Uint64 // messages behind the last one, as the node with the consumer knows
	turns   atomic.Uint64 // of waiting and not waiting; odd while Next waits
	seen    uint64        // turns at the last look
	stood   atomic.Int32  // how many consumers in a row stood still
	watched atomic.Bool   // the next look is to come
	timer   *time.Timer
}

// expect says how many more messages there are.
func (s *still) expect(more uint64) {
	s.more.Store(more)
	if more > 0 && s.watched.CompareAndSwap(false, true) {
		s.timer.Reset(s.pause())
	}
}

// got says that a message has come, and how many more there are.
func (s *still) got(more uint64) {
	if s.stood.Load() > 0 {
		s.stood.Store(0)
	}
	s.expect(more)
}

func (s *still) pause() time.Duration { return min(stillPause<<min(s.stood.Load(), 10), stillMost) }

// stands is called by the timer. It says whether the consumer stands still.
func (s *still) stands() bool {
	turns := s.turns.Load()
	stands := s.more.Load() > 0 && turns%2 == 1 && turns == s.seen
	if s.seen = turns; stands {
		s.stood.Add(1)
	}
	s.watched.Store(false)
	s.expect(s.more.Load())
	return stands
}
