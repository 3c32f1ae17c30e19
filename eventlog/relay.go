package eventlog

import (
	"context"
	"time"

	errata "github.com/errata-log/errata"
)

// TakeBlocks is the [DrainConfig].Take of a queue whose messages are blocks of
// other nodes. It appends them to the log unchanged, also unreadable ones, which
// are counted and reported there. Only times in the future are changed, to now: a
// receive time in the future would empty the projector's window of event ids.
func TakeBlocks(now func() time.Time) func(context.Context, *Drain, []Queued) error {
	return func(ctx context.Context, d *Drain, messages []Queued) error {
		for i := range messages {
			if err := d.Append(ctx, notAhead(messages[i].Data, now()), messages[i].Sequence); err != nil {
				return err
			}
		}
		return nil
	}
}

// notAhead returns the block with all times after now changed to now. A block that
// cannot be decoded stays as it is.
func notAhead(data []byte, now time.Time) []byte {
	b, err := BlockIDs(data)
	if err != nil || b.Received <= now.UnixMilli() {
		return data
	}
	if b, err = DecodeBlock(data, nil); err != nil {
		return data
	}
	now = now.UTC().Truncate(time.Millisecond)
	events := make([]errata.Event, 0, b.Len())
	b.Entries(func(_ int, entry Entry) {
		var e errata.Event
		if e, err = entry.Event(); err != nil {
			return
		}
		if e.Received.After(now) {
			e.Received = now
		}
		if e.Time.After(now) {
			e.Time = now
		}
		events = append(events, e)
	})
	if len(events) < b.Len() {
		return data
	}
	mended, err := EncodeBlock(events)
	if err != nil {
		return data
	}
	return mended
}
