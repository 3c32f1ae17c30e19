package memory

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"pgregory.net/rapid"
)

// The limit leaves a quarter of what lives above it, as far as the bounds allow, and no more than
// a step beyond that.
func TestLimitFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := limits{least: rapid.Int64Range(1, 1<<32).Draw(t, "least")}
		l.most = l.least + rapid.Int64Range(0, 1<<33).Draw(t, "beyond")
		live := rapid.Int64Range(0, 1<<33).Draw(t, "live")
		got, due := l.limitFor(live), live+live/4
		switch {
		case got < l.least || got > l.most:
			t.Fatalf("%d is not between %d and %d", got, l.least, l.most)
		case got < due && got != l.most:
			t.Fatalf("%d for %d that live, want at least %d", got, live, due)
		case got >= due+limitStep && got != l.least:
			t.Fatalf("%d for %d that live, want less than %d", got, live, due+limitStep)
		}
	})
}

// The limit rises with what lives, and falls with it.
func TestFollow(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before); burst = nil })
	l := limits{least: 96 << 20, most: math.MaxInt64}
	follow := func() int64 {
		runtime.GC()
		l.follow()
		return debug.SetMemoryLimit(-1)
	}
	if got := follow(); got != l.least {
		t.Fatalf("limit %d with little that lives, want %d", got, l.least)
	}
	burst = make([]byte, 2*l.least)
	if got := follow(); got < 2*l.least*5/4 {
		t.Errorf("limit %d, and %d live", got, len(burst))
	}
	burst = nil
	if got := follow(); got != l.least {
		t.Errorf("limit %d after they are gone, want %d", got, l.least)
	}
	debug.SetMemoryLimit(before)
	if (limits{}).follow(); debug.SetMemoryLimit(-1) != before {
		t.Error("the limit follows, though the environment sets it")
	}
}
