package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/internal/made"
)

// subjectSources and the name of a queue are the subject of the queue's events.
const subjectSources = subjectEvents + "from."

// headerSourceMark carries the [SourceMark] of a block, as JSON.
const headerSourceMark = "Errata-Source-Mark"

// sourcePatience is how long one block is tried. After that, the Drain begins again
// after the last mark.
const sourcePatience = 15 * time.Second

// SourceMark says up to which message a queue was moved to the log. It is on the
// log in the same message as the events, so that they are on the log once, however
// often the queue delivers its messages.
type SourceMark struct {
	// Epoch is when the queue was made, in Unix nanoseconds. Sequences of a queue
	// with another epoch say nothing about this one.
	Epoch int64 `json:"epoch"`
	// Sequence is that of the last message in the block. All messages before it
	// were handled.
	Sequence uint64 `json:"sequence"`
}

// lastSource finds the last block of the queue with the name: its mark and its
// sequence on the log, both zero when the log has none. When the last block was not
// written by Errata and has no mark, lastSource calls skipped, if it is not nil,
// and returns the sequence of that block with the mark of the block before.
func lastSource(ctx context.Context, log Log, name string, skipped func(sequence uint64, why error)) (mark SourceMark, seq uint64, err error) {
	seq, _, found, err := lastMarked(ctx, log, subjectSources+name, headerSourceMark, &mark, skipped)
	if !found {
		mark = SourceMark{} // not a part of one that could not be read
	}
	return mark, seq, err
}

// keySource begins the keys of the marks in their bucket.
const keySource = "source."

// KeepSourceMarks copies the mark of every queue into the bucket, before the log is
// purged of the marks: a queue may be out of reach for so long, and then deliver
// old messages again.
func KeepSourceMarks(ctx context.Context, log Log, bucket jetstream.KeyValue) error {
	return sourceMarks(ctx, log, func(name string, mark SourceMark) error {
		text, err := json.Marshal(mark)
		if err == nil {
			_, err = bucket.Put(ctx, keySource+name, text)
		}
		if err != nil {
			return fmt.Errorf("keep the mark of the queue %s: %w", name, err)
		}
		return nil
	})
}

// sourceMarks calls each with the mark of every queue on the log, until an error.
func sourceMarks(ctx context.Context, log Log, each func(name string, mark SourceMark) error) error {
	stream, err := log.JetStream.Stream(ctx, log.Stream)
	if err != nil {
		return fmt.Errorf("open the log %s: %w", log.Stream, err)
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(log.Prefix+subjectSources+">"))
	if err != nil {
		return fmt.Errorf("list the queues on the log: %w", err)
	}
	for subject := range info.State.Subjects {
		name := strings.TrimPrefix(subject, log.Prefix+subjectSources)
		mark, seq, err := lastSource(ctx, log, name, nil)
		if err != nil {
			return err
		}
		if seq == 0 || mark == (SourceMark{}) {
			continue
		}
		if err := each(name, mark); err != nil {
			return err
		}
	}
	return nil
}

// GoOnAfterMark gives the next message of a restored queue a higher number than the mark on
// the log has. A backup copies the queue before the log, so the mark may be that of a message
// that the copy of the queue lacks. A new message with such a number would be taken for a
// repeat, and be lost. Until this has returned, the queue must take no messages.
func GoOnAfterMark(ctx context.Context, log Log, queue string) error {
	stream, err := log.JetStream.Stream(ctx, queue)
	if err != nil {
		return fmt.Errorf("open the queue %s: %w", queue, err)
	}
	info := stream.CachedInfo()
	return sourceMarks(ctx, log, func(_ string, mark SourceMark) error {
		if mark.Epoch != epochOf(info) || mark.Sequence <= info.State.LastSeq {
			return nil
		}
		// All that is in the queue came before the mark, so the log has it.
		if err := stream.Purge(ctx, jetstream.WithPurgeSequence(mark.Sequence+1)); err != nil {
			return fmt.Errorf("let the queue %s go on after message %d: %w", queue, mark.Sequence, err)
		}
		return nil
	})
}

// epochOf is the epoch that marks of this queue have.
func epochOf(queue *jetstream.StreamInfo) int64 {
	return made.At(queue.Created, queue.Config.Metadata).UnixNano()
}

// keptMark reads the mark from the bucket. It is the zero SourceMark when there is
// none or it cannot be read.
func keptMark(ctx context.Context, bucket jetstream.KeyValue, name string, logger *slog.Logger) (mark SourceMark, err error) {
	entry, err := bucket.Get(ctx, keySource+name)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return mark, nil
	}
	if err != nil {
		return mark, fmt.Errorf("read the kept mark of the queue %s: %w", name, err)
	}
	if err := json.Unmarshal(entry.Value(), &mark); err != nil {
		logger.Error("the kept mark of a queue cannot be read; all messages that are still in the queue are taken", "queue", name, "error", err)
		return SourceMark{}, nil
	}
	return mark, nil
}
