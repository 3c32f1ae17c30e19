package memory

import (
	"runtime/debug"
	"runtime/metrics"
)

// overLive says how far the limit is above what lives: by a quarter of it. The ids of events and
// the filter of records grow with the log. With ten million of both they take 140 MB, and a replay
// has them twice. When they and the batches come near the limit, the collector runs all the time.
// A replay of ten million problems then took twice as much processor time.
const overLive = 4

// limitStep is the smallest change of the limit. Each change stops all goroutines for a moment.
const limitStep = 32 << 20

// limitFor returns the limit for a heap in which live bytes live, in whole steps.
func (l limits) limitFor(live int64) int64 {
	steps := (live + live/overLive + limitStep - 1) / limitStep
	return min(max(steps*limitStep, l.least), l.most)
}

// follow lets the limit follow what lived when the collector ran last.
func (l limits) follow() {
	if l.most == 0 {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if limit := l.limitFor(int64(live[0].Value.Uint64())); limit != debug.SetMemoryLimit(-1) {
		debug.SetMemoryLimit(limit)
	}
}
