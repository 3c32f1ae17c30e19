package projector

import "runtime/debug"

const (
	// A batch has maxBatchRecords at most: larger ones take more memory and are not faster. Its
	// insert has two rows for each record and two for the checkpoint, and one of 1,048,576 rows
	// or more is not atomic.
	maxBatchRecords = 50_000
	// maxBatchBytes bounds the first events of records that a batch keeps in memory, and
	// likewise its occurrences.
	maxBatchBytes = 64 << 20

	// recordBytes is about what a new record takes of the heap, with its share of the rows that
	// are encoded, as measured with events of 350 bytes.
	recordBytes = 1500
	// batchesAlive is how many batches the heap must have room for. Three are in use: one is
	// folded, one is prepared and one is written. Garbage takes about as much again before it is
	// collected.
	batchesAlive = 2 * 3
	// besideBatches is what lives on the heap beside batches: ids of events, buffers of
	// nats-server.
	besideBatches = 200 << 20
	// Smaller batches would make the fold slow: ClickHouse would have too many inserts.
	minBatchRecords, minBatchBytes = 5000, 8 << 20
)

// batchRecords is maxBatchRecords, and less in tests.
var batchRecords = maxBatchRecords

// batchSize is how much a batch may hold.
type batchSize struct {
	records, bytes int
}

// sizeOfBatches is the size of batches in a process with this soft limit of its heap, in bytes.
func sizeOfBatches(heap int64) batchSize {
	each := max(heap-besideBatches, 0) / batchesAlive
	return batchSize{
		records: max(minBatchRecords, int(min(each/recordBytes, maxBatchRecords))),
		bytes:   max(minBatchBytes, int(min(each/2, maxBatchBytes))),
	}
}

// heapLimit is the soft limit of this process's heap, the largest number without one.
func heapLimit() int64 { return debug.SetMemoryLimit(-1) }
