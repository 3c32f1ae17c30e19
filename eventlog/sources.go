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
)

// subjectSources is followed by the name of the queue whose events stand there.
const subjectSources = subjectEvents + "from."

// headerSourceMark carries the [SourceMark] of a block, as JSON.
const headerSourceMark = "Errata-Source-Mark"

// sourcePatience is how long one block is tried. Whoever drains a queue begins
// anew behind the last mark after that.
const sourcePatience = 15 * time.Second

// SourceMark says how far a queue was taken over. It stands on the log in the
// same message as the events, so that however often the queue delivers a
// message again, its events get onto the log once.
type SourceMark struct {
	// Epoch tells queues of one name apart: when the queue was made, in Unix
	// nanoseconds. Sequences mean nothing across two epochs.
	Epoch int64 `json:"epoch"`
	// Sequence is that of the last message of the queue in the block. What
	// stands before it in the queue is done with.
	Sequence uint64 `json:"sequence"`
}

// LastSource finds the last block of the queue with the name: its mark and its
// sequence on the log, both zero when the log has none. A block that somebody
// else has put there has no mark: the sequence is its own then, the mark that of
// the block before, and skipped, if it is not nil, is told.
func LastSource(ctx context.Context, log Log, name string, skipped func(sequence uint64, why error)) (mark SourceMark, seq uint64, err error) {
	seq, _, found, err := lastMarked(ctx, log, subjectSources+name, headerSourceMark, &mark, skipped)
	if !found {
		mark = SourceMark{} // nothing of one that broke off
	}
	return mark, seq, err
}

// AppendSource puts a sealed block of the queue on the log, if the queue's last
// block is still the one at afterSeq, 0 for none, and returns its sequence.
// Kinds: already_running when somebody else has gone on with the queue,
// log_full, log_unavailable. After the last one the block may stand on the log
// all the same; LastSource tells.
func AppendSource(ctx context.Context, log Log, name string, afterSeq uint64, block []byte, mark SourceMark) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, sourcePatience)
	defer cancel()
	return appendMarked(ctx, log, markedBlock{
		subject: subjectSources + name, header: headerSourceMark, mark: mark, block: block, afterSeq: afterSeq,
	})
}

// keySource begins the entries of the bucket that marks are kept in.
const keySource = "source."

// KeepSourceMarks copies the mark of every queue into the bucket, before the log
// is purged of them: a message of a queue that was out of reach since then can
// still come again.
func KeepSourceMarks(ctx context.Context, log Log, bucket jetstream.KeyValue) error {
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
		mark, seq, err := LastSource(ctx, log, name, nil)
		if err != nil {
			return err
		}
		if seq == 0 || mark == (SourceMark{}) {
			continue
		}
		text, err := json.Marshal(mark)
		if err == nil {
			_, err = bucket.Put(ctx, keySource+name, text)
		}
		if err != nil {
			return fmt.Errorf("keep the mark of the queue %s: %w", name, err)
		}
	}
	return nil
}

// keptMark is the mark in the bucket, the zero SourceMark when it has none that
// can be read.
func keptMark(ctx context.Context, bucket jetstream.KeyValue, name string, logger *slog.Logger) (mark SourceMark, err error) {
	entry, err := bucket.Get(ctx, keySource+name)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return mark, nil
	}
	if err != nil {
		return mark, fmt.Errorf("read the kept mark of the queue %s: %w", name, err)
	}
	if err := json.Unmarshal(entry.Value(), &mark); err != nil {
		logger.Error("the kept mark of a queue cannot be read; what the queue still has is taken", "queue", name, "error", err)
		return SourceMark{}, nil
	}
	return mark, nil
}
