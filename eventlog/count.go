package eventlog

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/internal/ordered"
)

// maxLanes bounds the remembered appenders; each start of a node makes one.
const maxLanes = 1000

// EventCount says how many events a stretch of the log holds.
type EventCount struct {
	// Events is the number of event ids in the readable blocks, Unreadable the
	// number of other blocks.
	Events, Unreadable uint64
	// Lost is how many events the log has confirmed to an appender and lacks now.
	Lost uint64
}

// EventCounter counts events stretch by stretch, from the heads of the blocks. From
// one stretch to the next it remembers how many events each appender had appended.
// The zero value is ready.
type EventCounter struct{ lanes map[string]uint64 }

// ErrTooMuch says that a stretch of the log has more bytes than Count may read.
var ErrTooMuch = errors.New("there is too much on the log")

// Count counts the events of the facts from one sequence to another, both included.
// It reads at most so many bytes; with more, the error is ErrTooMuch. It is an error too
// when the nodes that were read from do not have all of these facts yet.
func (c *EventCounter) Count(ctx context.Context, log Log, from, to uint64, most int) (n EventCount, err error) {
	failed := func(err error) (EventCount, error) {
		return n, fmt.Errorf("count the log's events from %d to %d: %w", from, to, err)
	}
	reader, err := ordered.Open(ctx, ordered.Config{JetStream: log.JetStream, Stream: log.Stream, From: from, Subjects: []string{log.Prefix + subjectEvents + ">"}})
	if err != nil {
		return failed(err)
	}
	defer reader.Stop()
	for {
		msg, _, err := reader.NextUpTo(ctx, to)
		if errors.Is(err, ordered.ErrEnd) {
			return n, nil
		}
		if err != nil {
			return failed(err)
		}
		if most -= len(msg.Data()); most < 0 {
			return failed(ErrTooMuch)
		}
		c.add(&n, msg)
	}
}

// add counts one block.
func (c *EventCounter) add(n *EventCount, msg jetstream.Msg) {
	if block, err := BlockIDs(msg.Data()); err == nil {
		n.Events += uint64(block.Len())
	} else {
		n.Unreadable++
	}
	at := runIn(msg.Headers(), msg.Data())
	if at == nil {
		return
	}
	if c.lanes == nil || len(c.lanes) > maxLanes {
		c.lanes = map[string]uint64{}
	}
	if known, ok := c.lanes[at.appender]; ok && at.before > known {
		n.Lost += at.before - known
	}
	c.lanes[at.appender] = max(c.lanes[at.appender], at.before+at.events)
}
