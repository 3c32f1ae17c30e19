package exchange

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// A batch is written when it has maxRows rows or maxBytes bytes, or is
	// batchWait old. A message is never divided, so the rows may be exceeded by
	// one message. Larger inserts make fewer parts; the bytes bound memory.
	maxRows   = 10_000 - MaxEntries
	maxBytes  = 16 << 20
	batchWait = time.Second
	// pullBytes bounds what one pull may bring.
	pullBytes = 8 << 20
)

// session reads the stream from the first message that is not written on.
func (l *lane) session(ctx context.Context) error {
	if err := l.purge(ctx); err != nil { // what an earlier process left
		return err
	}
	consumer, err := l.stream.JetStream.OrderedConsumer(ctx, l.stream.Name, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{l.stream.subject(l.store.log)},
		DeliverPolicy:  jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:    l.next,
	})
	if err != nil {
		return fmt.Errorf("consume the stream from %d: %w", l.next, err)
	}
	messages, err := consumer.Messages(jetstream.PullMaxBytes(pullBytes))
	if err != nil {
		return fmt.Errorf("pull the stream from %d: %w", l.next, err)
	}
	defer messages.Stop()
	for {
		b, err := l.collect(ctx, messages)
		if err != nil {
			return err
		}
		if err := l.write(ctx, b); err != nil {
			return err
		}
		l.next = b.last + 1
		l.since.Store(0)
		if err := l.purge(ctx); err != nil {
			// It is written all the same, and the next purge takes it along.
			l.logger.Warn("what is written could not be taken from the stream", "up_to", b.last, "error", err)
		}
	}
}

// batch is what one insert writes.
type batch struct {
	messages    []message
	last        uint64 // sequence of its last message, read or not
	rows, bytes int
}

// collect waits for a message and gathers those that follow.
func (l *lane) collect(ctx context.Context, messages jetstream.MessagesContext) (*batch, error) {
	b := &batch{}
	msg, err := messages.Next(jetstream.NextContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("next message after %d: %w", l.next-1, err)
	}
	if err := l.add(b, msg); err != nil {
		return nil, err
	}
	soon, cancel := context.WithTimeout(ctx, batchWait)
	defer cancel()
	for b.rows < maxRows && b.bytes < maxBytes {
		msg, err := messages.Next(jetstream.NextContext(soon))
		if errors.Is(err, context.DeadlineExceeded) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("next message after %d: %w", b.last, err)
		}
		if err := l.add(b, msg); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// add puts a message into the batch. One that cannot be read is left out.
func (l *lane) add(b *batch, msg jetstream.Msg) error {
	meta, err := msg.Metadata()
	if err != nil {
		return fmt.Errorf("metadata of a message: %w", err)
	}
	if b.last == 0 {
		l.since.Store(meta.Timestamp.UnixNano())
	}
	b.last = meta.Sequence.Stream
	l.metrics.pending.WithLabelValues(l.store.log.String()).Set(float64(meta.NumPending))
	entries, size, err := decode(msg.Data())
	if err != nil {
		l.skipped(b.last, err)
		l.metrics.poison.WithLabelValues(l.store.log.String()).Inc()
		return nil
	}
	b.messages = append(b.messages, message{b.last, entries})
	b.rows += len(entries)
	b.bytes += size
	return nil
}

// write inserts the batch, and tries again for as long as it takes. The error
// is that of ctx.
func (l *lane) write(ctx context.Context, b *batch) error {
	if b.rows == 0 {
		return nil
	}
	for tries := pauses.Begin(); ; {
		err := l.store.write(ctx, l.epoch, b.messages)
		if err == nil {
			l.metrics.written.WithLabelValues(l.store.log.String()).Add(float64(b.rows))
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		l.metrics.retries.WithLabelValues(l.store.log.String()).Inc()
		l.logger.Warn("an insert failed and is tried again", "rows", b.rows, "error", err)
		tries.Wait(ctx)
	}
}

// purge takes what is written from the stream.
func (l *lane) purge(ctx context.Context) error {
	if l.next <= 1 {
		return nil
	}
	stream, err := l.stream.JetStream.Stream(ctx, l.stream.Name)
	if err != nil {
		return fmt.Errorf("open the stream %s: %w", l.stream.Name, err)
	}
	// Up to, and not including, the sequence.
	err = stream.Purge(ctx, jetstream.WithPurgeSubject(l.stream.subject(l.store.log)), jetstream.WithPurgeSequence(l.next))
	if err != nil {
		return fmt.Errorf("purge %s before %d: %w", l.store.log, l.next, err)
	}
	return nil
}
