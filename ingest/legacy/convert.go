package legacy

import (
	"strconv"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/noise"
)

// block is a sealed block of a batch, and the mark where reading goes on behind
// it. The mark counts within the batch. data is nil when there is no event.
type block struct {
	data []byte
	mark eventlog.ImportMark
	// firstUnreadable is the number of the first unreadable line of the batch.
	firstUnreadable int64
}

// converter turns the entries of one file into events.
type converter struct {
	rules    *ingest.Rules
	noise    *ingest.Noise
	project  uint64
	book     errata.Book
	fileHash string
	// changed is when the file was last written: the time of entries that have
	// no time.
	changed time.Time
	now     func() time.Time
}

// convert makes the batch's blocks. scratch is reused between calls.
func (c *converter) convert(b *batch, scratch *eventlog.ImportBlock) {
	src := ingest.Source{Project: c.project, Received: c.now(), Archive: true}
	events, unreadable, silenced := int64(0), int64(0), 0
	under := c.noise.Of(c.project)
	for i := range b.entries {
		e := &b.entries[i]
		if scratch.Full() {
			b.blocks = append(b.blocks, block{data: scratch.Seal(), mark: eventlog.ImportMark{
				Offset: e.offset, Lines: e.lines, Unreadable: e.unreadable + unreadable, Events: events,
			}})
		}
		event, dropped, refused := c.event(b.text[e.begin:e.end], e.offset, src, under)
		if dropped {
			silenced++
			continue
		}
		if refused != nil || scratch.Add(&event) != nil {
			unreadable++
			if line := e.lines + 1; b.firstUnreadable == 0 || line < b.firstUnreadable {
				b.firstUnreadable = line
			}
			continue
		}
		events++
	}
	c.noise.Count(c.project, silenced)
	end := block{mark: eventlog.ImportMark{
		Offset: b.end, Lines: b.lines, Unreadable: b.unreadable + unreadable, Events: events, Done: b.last,
	}}
	if scratch.Len() > 0 {
		end.data = scratch.Seal()
	}
	b.blocks = append(b.blocks, end)
}

// event is the entry at offset as an event, in the folder's book. dropped says that a
// noise rule drops it.
func (c *converter) event(text []byte, offset int64, src ingest.Source, under *noise.Rules) (e errata.Event, dropped bool, refused *errata.Error) {
	draft, refused := Parse(text)
	if refused != nil {
		return errata.Event{}, false, refused
	}
	draft.Book = c.book
	if draft.Time.IsZero() {
		draft.Time = c.changed
	}
	id := errata.NewEventID(c.project, "import:"+c.fileHash+":"+strconv.FormatInt(offset, 10))
	if draft.ClientID != "" {
		id = ingest.EventID(c.project, draft.ClientID)
	}
	return c.rules.Judged(&draft, src, id, under)
}
