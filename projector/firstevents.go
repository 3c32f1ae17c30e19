package projector

import (
	"context"
	"errors"
	"fmt"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// firstEvent returns the first event of a record as the batch keeps it: bare when the record
// exists. Only new records need their first event. Without those of the others a batch takes
// many more events, so a record is written less often while a long log is folded. The filter
// may say that a record exists which does not: then its first event is read from the log again.
func (b *batch) firstEvent(e eventlog.Entry) eventlog.Entry {
	if b.known != nil && b.known.mayHave(recordKey{e.Book, e.Signature}.hashes()) {
		return e.Bare()
	}
	return e.Clone()
}

// readAgain reads the first events that the batch has not kept, of records that do not exist:
// they were deleted meanwhile, or the filter was wrong. old has the records that exist. After
// an error the session must begin again, with a filter that is made anew.
func (c *committer) readAgain(ctx context.Context, b *batch, old map[recordKey]*errata.Record) error {
	for _, key := range b.order {
		d := b.deltas[key]
		if old[key] != nil || d.sighting.Size() > 0 {
			continue
		}
		e, err := c.picker.Entry(ctx, d.id)
		if err == nil && e.ID != d.sighting.ID {
			err = errors.New("another event is at its place")
		}
		if err != nil {
			return fmt.Errorf("read the first event of a record again: %w", err)
		}
		d.sighting = e
	}
	return nil
}
