package eventlog

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// headerLane carries where a block stands among those of its appender: the
// appender's id, how many events the log had confirmed to it before, and how
// many are in the block. A block that the log confirmed and then lost leaves a
// hole in it.
const headerLane = "Errata-Lane"

// laneHeader is the header of an appender's next block.
func laneHeader(lane string, before, events uint64) nats.Header {
	return nats.Header{headerLane: []string{fmt.Sprintf("%s %d %d", lane, before, events)}}
}

// laneIn reads what laneHeader wrote; "" when there is none.
func laneIn(h nats.Header) (lane string, before, events uint64) {
	if n, err := fmt.Fscanf(strings.NewReader(h.Get(headerLane)), "%s %d %d", &lane, &before, &events); err != nil || n < 3 {
		return "", 0, 0
	}
	return lane, before, events
}

const (
	// countBatch is how many blocks are asked for at a time, at most 50 MB: more
	// than 64 MB at once cut the connection.
	countBatch = 50
	// maxLanes is how many appenders are remembered; each start of a node is one.
	maxLanes = 1000
)

// EventCount is what stands on a stretch of the log.
type EventCount struct {
	// Events is the number of event ids in the blocks that can be read, Unreadable
	// the number of blocks that cannot.
	Events, Unreadable uint64
	// Lost is how many events the log confirmed to an appender and does not have.
	Lost uint64
}

// EventCounter counts events stretch by stretch, by the heads of the blocks. It
// remembers between them how far each appender had come. The zero value is ready.
type EventCounter struct{ lanes map[string]uint64 }

// ErrTooMuch says that a stretch of the log holds more than was to be read.
var ErrTooMuch = errors.New("there is too much on the log")

// Count counts the events of the facts from and to, both included. It reads at
// most so many bytes: ErrTooMuch.
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
	lane, before, events := laneIn(msg.Headers())
	if lane == "" {
		return
	}
	if c.lanes == nil || len(c.lanes) > maxLanes {
		c.lanes = map[string]uint64{}
	}
	if known, ok := c.lanes[lane]; ok && before > known {
		n.Lost += before - known
	}
	c.lanes[lane] = max(c.lanes[lane], before+events)
}
