package background

import (
	"sync/atomic"
	"time"
)

// turn is when in a second the loops of this process wake up, in nanoseconds; 0 for whenever
// their pauses end.
var turn atomic.Int64

// WakeTogether lets the pauses of loops end at the same moment of a second, those of a second or
// more. A process at rest takes most of its processor time for waking up. The moment is another one
// in each process, so that several on a machine do not take the processors from each other.
func WakeTogether() { turn.Store(1 + time.Now().UnixNano()%int64(time.Second-1)) }

// together is the pause that ends at that moment, up to half a second earlier or later.
func together(now time.Time, pause time.Duration) time.Duration {
	at := time.Duration(turn.Load())
	if at == 0 || pause < time.Second {
		return pause
	}
	return now.Add(pause - at).Round(time.Second).Add(at).Sub(now)
}
