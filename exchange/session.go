package exchange

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/internal/ordered"
)

const (
	// A batch is written when it has maxRows rows or maxBytes bytes, or is
	// batchWait old. A message is never divided, so the last message may exceed
	// maxRows. Larger inserts make fewer parts; maxBytes bounds the memory.
	maxRows   = 10_000 - MaxEntries
	maxBytes  = 16 << 20
	batchWait = time.Second
)

// session reads the stream, from the first message that is not written.
func (l *lane) session(ctx context.Context) error {
	if err := l.purge(ctx); err != nil { // what an earlier process wrote
		return err
	}
	messages, err := ordered.Open(ctx, ordered.Config{
		JetStream: l.stream.JetStream, Stream: l.stream.Name, From: l.next, Subjects: []string{l.stream.subject(l.store.log)},
	})
	if err != nil {
		return err
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
		l.written.Store(l.next)
		l.since.Store(0)
		if err := l.purge(ctx); err != nil {
			l.logger.Warn("the written messages could not be purged from the stream; the next purge removes them", "up_to", b.last, "error", err)
		}
	}
}

// batch holds the messages of one insert.
type batch struct {
	messages    []message
	last        uint64 // sequence of the last message, also of one that cannot be read
	rows, bytes int
}

// collect waits for a message and gathers the next ones for batchWait.
func (l *lane) collect(ctx context.Context, messages *ordered.Reader) (*batch, error) {
	msg, meta, err := messages.Next(ctx)
	if err != nil {
		return nil, fmt.Errorf("next message after %d: %w", l.next-1, err)
	}
	soon, cancel := context.WithTimeout(ctx, batchWait)
	defer cancel()
	b := &batch{}
	for {
		l.add(b, msg, meta)
		if b.rows >= maxRows || b.bytes >= maxBytes {
			return b, nil
		}
		msg, meta, err = messages.Next(soon)
		if errors.Is(err, context.DeadlineExceeded) {
			return b, nil
		}
		if err != nil {
			return nil, fmt.Errorf("next message after %d: %w", b.last, err)
		}
	}
}

// add puts a message into the batch. It leaves out a message that cannot be read.
func (l *lane) add(b *batch, msg jetstream.Msg, meta *jetstream.MsgMetadata) {
	if b.last == 0 {
		l.since.Store(meta.Timestamp.UnixNano())
	}
	b.last = meta.Sequence.Stream
	l.metrics.pending.WithLabelValues(l.store.log.String()).Set(float64(meta.NumPending))
	entries, size, err := decode(msg.Data())
	if err != nil {
		l.skipped(b.last, err)
		l.metrics.poison.WithLabelValues(l.store.log.String()).Inc()
		return
	}
	b.messages = append(b.messages, message{b.last, entries})
	b.rows += len(entries)
	b.bytes += size
}

// write inserts the batch, and retries until ctx ends. The error is that of ctx.
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
		l.logger.Warn("an insert failed; it is retried", "rows", b.rows, "error", err)
		tries.Wait(ctx)
	}
}

// purge removes the written messages from the stream that nobody else needs.
func (l *lane) purge(ctx context.Context) error {
	if l.next <= 1 {
		return nil
	}
	stream, err := l.stream.JetStream.Stream(ctx, l.stream.Name)
	if err != nil {
		return fmt.Errorf("open the stream %s: %w", l.stream.Name, err)
	}
	info := stream.CachedInfo()
	keep := l.keep(l.store.log, l.next, info.State.Bytes > uint64(info.Config.MaxBytes)/2)
	if keep <= 1 {
		return nil
	}
	// Up to, and not including, the sequence.
	err = stream.Purge(ctx, jetstream.WithPurgeSubject(l.stream.subject(l.store.log)), jetstream.WithPurgeSequence(keep))
	if err != nil {
		return fmt.Errorf("purge %s before %d: %w", l.store.log, keep, err)
	}
	return nil
}
