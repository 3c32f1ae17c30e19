package eventlog

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// countBatch is how many blocks one request asks for, at most 50 MB: the server
	// closes the connection when more than 64 MB wait in it.
	countBatch = 50
	// maxLanes bounds the remembered appenders; each start of a node makes one.
	maxLanes = 1000
)

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
// It reads at most so many bytes; with more, the error is ErrTooMuch.
func (c *EventCounter) Count(ctx context.Context, log Log, from, to uint64, most int) (n EventCount, err error) {
	consumer, err := log.JetStream.OrderedConsumer(ctx, log.Stream, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: from,
		FilterSubjects: []string{log.Prefix + subjectEvents + ">"},
	})
	if err != nil {
		return n, fmt.Errorf("count the log's events from %d: %w", from, err)
	}
	for {
		batch, err := consumer.FetchNoWait(countBatch)
		if err != nil {
			return n, fmt.Errorf("count the log's events from %d: %w", from, err)
		}
		read := 0
		for msg := range batch.Messages() {
			meta, err := msg.Metadata()
			if err != nil {
				return n, fmt.Errorf("count the log's events from %d: %w", from, err)
			}
			if read++; meta.Sequence.Stream > to {
				return n, nil
			}
			if most -= len(msg.Data()); most < 0 {
				return n, fmt.Errorf("count the log's events from %d to %d: %w", from, to, ErrTooMuch)
			}
			c.add(&n, msg)
		}
		if err := batch.Error(); err != nil {
			return n, fmt.Errorf("count the log's events from %d: %w", from, err)
		}
		if read == 0 {
			return n, ctx.Err()
		}
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
