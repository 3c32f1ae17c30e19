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
		{410 << 20, batchSize{24_466, 17<<20 + 512<<10}},
		{640 << 20, batchSize{maxBatchRecords, 38_447_786}},
		{1640 << 20, batchSize{maxBatchRecords, maxBatchBytes}},
		{math.MaxInt64, batchSize{maxBatchRecords, maxBatchBytes}},
	} {
		if got := sizeOfBatches(c.heap); got != c.want {
			t.Errorf("%d MB: %+v, want %+v", c.heap>>20, got, c.want)
		}
	}
}
