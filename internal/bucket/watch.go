package bucket

import (
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// endTimeout bounds the wait for an ended watch to close its channel.
const endTimeout = time.Second

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
