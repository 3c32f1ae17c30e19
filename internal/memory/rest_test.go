package memory

import (
	"context"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

// burst is written, so that it takes memory of the machine.
var burst []byte

func takeMuch() {
	burst = make([]byte, 2*worthBytes)
	for i := range burst {
		burst[i] = 1
	}
}

// What a burst has left behind is given back at the first look at which nothing happens.
func TestGiveBack(t *testing.T) {
	g := newGiver()
	g.look()
	before := g.read().held
	takeMuch()
	burst = nil
	g.look()
	if held := g.read().held; held < before+worthBytes {
		t.Fatalf("%d bytes are held right after the burst, %d before: they were given back under load", held, before)
	}
	g.look()
	if held := g.read().held; held > before+worthBytes {
		t.Errorf("%d bytes are held at rest, %d before the burst", held, before)
	}
}

// A process at rest does not give back again and again what it needs.
func TestGiveBackOnce(t *testing.T) {
	g := newGiver()
	takeMuch()
	g.look()
	g.look()
	before := collections()
	g.look()
	if n := collections(); n != before {
		t.Errorf("the heap was collected %d times, though nothing had happened", n-before)
	}
	burst = nil
}

// collections is how often a collection was asked for.
func collections() uint32 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.NumForcedGC
}

// It looks by itself, and ends with its context.
func TestTendEnds(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	sized := Sized{heap: limits{least: 1 << 30, most: 1 << 31}}
	takeMuch()
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan struct{})
		before := collections()
		go func() { defer close(ended); sized.Tend(ctx) }()
		time.Sleep(tendEvery + time.Second) // reason: in the bubble, where no time passes
		if collections() == before {
			t.Errorf("nothing was given back after %v", tendEvery+time.Second)
		}
		if limit := debug.SetMemoryLimit(-1); limit != sized.heap.least {
			t.Errorf("the limit is %d after %v, want %d", limit, tendEvery+time.Second, sized.heap.least)
		}
		end()
		<-ended
	})
	burst = nil
}
