package memory

import (
	"runtime/debug"
	"runtime/metrics"
)

// The limit is a quarter, one in overLive, above what lives. Ids of events and the filter of records
// grow with the log, to 140 MB with ten million of both, and a replay has them twice. Where they
// come near the limit together with the batches, the collector runs again and again: a replay of
// ten million problems took the service twice the processor time.
const overLive = 4

// limitStep is how much the limit changes at least. Each change stops all goroutines for a
// moment.
const limitStep = 32 << 20

// limitFor is the limit for a heap of which so many bytes live, in whole steps.
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
