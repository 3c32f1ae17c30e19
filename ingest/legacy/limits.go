package legacy

import (
	"time"

	"github.com/errata-log/errata/ingest"
)

const (
	// maxFile bounds a file, and what comes out of a compressed one. Files of
	// 5 GB are real, and memory does not depend on it: the bound only keeps a
	// sparse file of terabytes from being read for days.
	maxFile = 64 << 30
	// maxLine bounds a line, as ingest.MaxEvent bounds an event. A longer one
	// is skipped and counted.
	maxLine = ingest.MaxEvent
	// maxEntry bounds the lines of one entry together; more of them are read
	// past. The pipeline keeps 8 KiB of a message and 50 frames anyway.
	maxEntry = 256 << 10
	// settleTime is how long a file must rest before its last line counts
	// although no newline ends it: its writer may be in the middle of it.
	settleTime = time.Minute

	// A batch of entries becomes one block, if its events fit: 1,000 of them
	// keep an fsync's share of an event below what parsing it takes.
	batchEntries = 1000
	batchBytes   = 256 << 10
	// inFlight is how many batches are on their way at once: enough to keep
	// two workers and the log busy, 2 MB of memory.
	inFlight = 6
	workers  = 2
	// saveEvery is how many blocks lie between two writes of the position to
	// the book. The log knows it exactly; the book is for a log that is purged.
	saveEvery = 100
)
