package memory

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// tendEvery is how often Tend looks at what lives, and whether the process is at rest.
	tendEvery = 10 * time.Second
	// restBytes is what a process at rest allocates at most between two looks. The timers
	// of a service that nobody uses allocate a tenth of it, and one event a few KB.
	restBytes = 8 << 20
	// worthBytes is what must be there to be given back, so that a process at rest does
	// not collect its heap all the time.
	worthBytes = 32 << 20
)

// Tend looks after the heap until ctx ends. It lets the limit follow what lives, and gives memory
// that the heap does not need back to the machine whenever the process has come to rest. Go keeps
// it by itself, up to the size at which the heap is collected next, so that a service would hold
// for good what it took under load.
func (s Sized) Tend(ctx context.Context) {
	ticker := time.NewTicker(tendEvery)
	defer ticker.Stop()
	giver := newGiver()
	for {
		select {
		case <-ticker.C:
			s.heap.follow()
			giver.look()
		case <-ctx.Done():
			return
		}
	}
}

// giver knows how the heap was at the last look.
type giver struct {
	samples []metrics.Sample
	seen    heap
	least   uint64 // what the heap held after memory was given back the last time
}

// heap is what the Go runtime tells about the heap, in bytes.
type heap struct {
	allocated uint64 // since the start
	held      uint64 // memory of the machine
}

func newGiver() *giver {
	g := &giver{samples: []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}}
	g.seen = g.read()
	return g
}

// look gives back memory if the process is at rest and it is worth it.
func (g *giver) look() {
	before := g.seen
	g.seen = g.read()
	if !g.seen.atRest(before) || g.seen.held < g.least+worthBytes {
		return
	}
	debug.FreeOSMemory()
	g.seen = g.read()
	g.least = g.seen.held
}

// atRest says whether little was allocated since before.
func (h heap) atRest(before heap) bool { return h.allocated-before.allocated <= restBytes }

func (g *giver) read() heap {
	metrics.Read(g.samples)
	h := heap{allocated: g.samples[0].Value.Uint64()}
	for _, part := range g.samples[1:] {
		h.held += part.Value.Uint64()
	}
	return h
}
