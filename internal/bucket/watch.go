package bucket

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// endTimeout bounds the wait for an ended watch to close its channel.
const endTimeout = time.Second

// errWatchEnded says that a watch has ended although nobody asked for it, as when the
// connection is lost.
var errWatchEnded = errors.New("the watch ended")

// NextEntry waits for the next entry of a watch that was begun with ctx. It is nil once all
// entries have come that were there at the beginning. The error is the cause of ctx when that
// ends, which ends the watch too.
func NextEntry(ctx context.Context, w jetstream.KeyWatcher) (jetstream.KeyValueEntry, error) {
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case entry, open := <-w.Updates():
		if !open {
			return nil, cmp.Or(context.Cause(ctx), errWatchEnded)
		}
		return entry, nil
	}
}

// EndWatch ends a watch by its context, and reads what it still delivers: its goroutine
// would wait for a reader for ever. Stop in place of the context would wait 5 s for the
// answer of a server that is away.
func EndWatch(w jetstream.KeyWatcher, cancel func()) {
	cancel()
	late := time.After(endTimeout)
	for {
		select {
		case _, open := <-w.Updates():
			if !open {
				return
			}
		case <-late:
			return
		}
	}
}
