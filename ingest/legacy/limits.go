package legacy

import (
	"time"

	"github.com/errata-log/errata/ingest"
)

const (
	// maxFile bounds a file, packed and unpacked, in bytes. Real files have 5 GB,
	// and memory does not depend on the size. The limit only stops a sparse file
	// of terabytes, which would take days.
	maxFile = 64 << 30
	// maxLine bounds a line, as ingest.MaxEvent bounds an event. A longer one
	// is skipped and counted.
	maxLine = ingest.MaxEvent
	// maxEntry bounds the lines of one entry together; the rest is ignored. The
	// pipeline keeps 64 KiB of a message and 50 frames anyway.
	maxEntry = 256 << 10
	// settleTime is how long nobody may have written to a file whose last line
	// has no line break: its writer may still be writing that line.
	settleTime = time.Minute

	// A batch of entries becomes one block, if its events fit. With 1,000 events
	// in a block, an event's share of the fsync is shorter than its parsing.
	batchEntries = 1000
	batchBytes   = 256 << 10
	// inFlight is how many batches there are: enough to keep two workers and the
	// log busy. They take 2 MB of memory.
	inFlight = 6
	workers  = 2
	// saveEvery is how many blocks are appended between two writes of the mark to
	// the import book. The log has every mark, until it is purged.
	saveEvery = 100
)
