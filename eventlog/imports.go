package eventlog

import (
	"context"
	"slices"
	"time"

	"github.com/klauspost/compress/s2"

	errata "github.com/errata-log/errata"
)

// subjectImports and the hash of a file are the subject of the file's events.
const subjectImports = subjectEvents + "import."

// headerImportNext carries the [ImportMark] of a block, as JSON.
const headerImportNext = "Errata-Import-Next"

// importPatience is how long one block is tried. A log that is away for longer ends
// the import; the next import continues there.
const importPatience = time.Minute

// ImportMark says where reading a file continues. It is on the log in the same
// message as the events before it, so that a crash cannot separate them.
type ImportMark struct {
	Offset     int64 `json:"offset"` // of the next entry, in the unpacked bytes
	Lines      int64 `json:"lines"`  // so far, like the next two
	Events     int64 `json:"events"`
	Unreadable int64 `json:"unreadable"`
	Done       bool  `json:"done,omitempty"` // nothing is left
}

// Beyond says whether m is further in the file than other.
func (m ImportMark) Beyond(other ImportMark) bool {
	return m.Offset > other.Offset || m.Offset == other.Offset && (m.Lines > other.Lines || m.Done && !other.Done)
}

// ImportBlock collects the events of one block, not only of imports. The zero
// ImportBlock is empty.
type ImportBlock struct {
	received int64
	ids, raw []byte
	packed   []byte // memory for the compressed events
}

// grow makes room for as many of the events as fit into a block.
func (b *ImportBlock) grow(events []errata.Event) {
	size, n := 0, 0
	for n < len(events) && n < errata.MaxBlockEvents && size < MaxBlockRaw {
		size += lengthSize + sizeOf(&events[n])
		n++
	}
	b.raw, b.ids = slices.Grow(b.raw, size), slices.Grow(b.ids, n*idSize)
}

// Add appends an event. After an error, ErrEventTooLarge, the block is unchanged.
func (b *ImportBlock) Add(e *errata.Event) (err error) {
	if b.raw, err = appendEvent(b.raw, e); err != nil {
		return err
	}
	if len(b.ids) == 0 {
		b.received = e.Received.UnixMilli()
	}
	b.ids = append(b.ids, e.ID[:]...)
	return nil
}

// Len is the number of events in the block.
func (b *ImportBlock) Len() int { return len(b.ids) / idSize }

// Full says whether the block must be sealed before the next event.
func (b *ImportBlock) Full() bool {
	return len(b.raw) >= MaxBlockRaw || b.Len() >= errata.MaxBlockEvents
}

// Seal returns the bytes of the block, which must have an event, and empties it.
// The bytes are new ones each time: NATS still reads them after Publish has
// returned.
func (b *ImportBlock) Seal() []byte {
	b.packed = s2.Encode(b.packed, b.raw)
	sealed := sealBlock(b.received, b.ids, b.packed)
	b.ids, b.raw = b.ids[:0], b.raw[:0]
	return sealed
}

// LastImport finds the last block of the file with the hash. It returns where
// reading continues, and the sequence of the block. found is false when the log has
// none.
func LastImport(ctx context.Context, log Log, fileHash string) (mark ImportMark, seq uint64, found bool, err error) {
	seq, _, found, err = lastMarked(ctx, log, subjectImports+fileHash, headerImportNext, &mark, nil)
	return mark, seq, found, err
}

// AppendImport puts a sealed block of a file on the log, if the last block of the
// file is still the one at afterSeq, 0 for none, and returns its sequence. It tries
// until the outcome is known, ctx ends or a minute has passed. Kinds:
// already_running when another import has continued the file, log_full,
// log_unavailable. After log_unavailable the block may be on the log; LastImport
// finds out.
func AppendImport(ctx context.Context, log Log, fileHash string, afterSeq uint64, block []byte, mark ImportMark) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, importPatience)
	defer cancel()
	return appendMarked(ctx, log, markedBlock{
		subject: subjectImports + fileHash, header: headerImportNext, mark: mark, block: block, afterSeq: afterSeq,
	})
}
