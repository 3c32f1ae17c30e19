package projector

import "runtime/debug"

const (
	// maxBatchRecords bounds the records of a batch, which keeps a batch in one block of
	// ClickHouse: an insert of more than 1,048,576 rows is not atomic. A batch has two rows for
	// each record and two for the checkpoint.
	maxBatchRecords = 150_000
	// maxBatchBytes bounds the first events of records that a batch keeps in memory, and
	// likewise its occurrences.
	maxBatchBytes = 64 << 20

	// recordBytes is about what a new record takes of the heap, with its share of the rows that
	// are encoded, as measured with events of 350 bytes: 450,000 records took 900 MB.
	recordBytes = 2 << 10
	// batchesAlive are the batch that is folded, the one that is prepared and the one that is
	// written; the garbage collector lets about as much gather before it runs.
	batchesAlive = 2 * 3
	// besideBatches is what lives on the heap beside batches: ids of events, buffers of
	// nats-server.
	besideBatches = 200 << 20
	// With less than these, ClickHouse would have so many inserts that the fold takes longer than
	// the memory is worth.
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
