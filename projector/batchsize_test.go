package projector

import (
	"math"
	"testing"
)

// TestSizeOfBatches: three batches and the room of the collector are to fit into the heap that a
// process may have, and nothing is gained beyond the largest batch.
func TestSizeOfBatches(t *testing.T) {
	for _, c := range []struct {
		heap int64
		want batchSize
	}{
		{0, batchSize{minBatchRecords, minBatchBytes}},
		{besideBatches, batchSize{minBatchRecords, minBatchBytes}},
		{410 << 20, batchSize{17_920, 17<<20 + 512<<10}},
		{820 << 20, batchSize{52_906, 54_176_426}},
		{1640 << 20, batchSize{122_880, maxBatchBytes}},
		{math.MaxInt64, batchSize{maxBatchRecords, maxBatchBytes}},
	} {
		if got := sizeOfBatches(c.heap); got != c.want {
			t.Errorf("%d MB: %+v, want %+v", c.heap>>20, got, c.want)
		}
	}
}
