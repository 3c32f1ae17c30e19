//go:build !race

package legacy

import (
	"context"
	"runtime"
	"testing"

	"github.com/errata-log/errata/eventlog"
)

// TestFlatMemory: a file of 60 MB takes no more memory than its batches in
// flight and their garbage.
func TestFlatMemory(t *testing.T) {
	const times, limit = 500, 32 << 20
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	most, last := uint64(0), eventlog.ImportMark{}
	err := stream(t.Context(), &repeated{text: phpLines(1000), n: times}, last, converterAt(received), func(_ context.Context, b block) error {
		runtime.ReadMemStats(&now)
		most, last = max(most, now.HeapAlloc-min(before.HeapAlloc, now.HeapAlloc)), b.mark
		return nil
	})
	if err != nil || last.Lines != times*1000 || last.Events != last.Lines || !last.Done {
		t.Errorf("read up to %+v, %v", last, err)
	}
	if most > limit {
		t.Errorf("%d bytes of memory, want at most %d", most, limit)
	}
	t.Logf("%d MB of text, at most %.1f MB of memory", last.Offset>>20, float64(most)/(1<<20))
}
