package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/internal/ordered"
)

const (
	// publishTimeout bounds one try to append. After it the outcome is unknown,
	// and the last entry is read again.
	publishTimeout = 2 * time.Second
	// fetchTimeout bounds the wait for one entry. It is enough to turn to another node when
	// one dies.
	fetchTimeout = 5 * time.Second
)

// errLost says that another auditor appended first.
var errLost = errors.New("another auditor appended to the audit trail first")

// stream is where the trail stands.
type stream struct {
	js            jetstream.JetStream
	name, subject string
}

// head is the end of the trail.
type head struct {
	n uint64 // of the last message, 0 when there are none
	// hash and cursors are those of the last entry, foreign the messages behind
	// it.
	hash    string
	cursors Cursors
	foreign foreignRun
}

func (s stream) open(ctx context.Context) (jetstream.Stream, error) {
	handle, err := s.js.Stream(ctx, s.name)
	if err != nil {
		return nil, fmt.Errorf("open the audit trail %s: %w", s.name, err)
	}
	return handle, nil
}

// head reads the end of the trail.
func (s stream) head(ctx context.Context) (head, error) {
	handle, err := s.open(ctx)
	if err != nil {
		return head{}, err
	}
	return s.end(ctx, handle, handle.CachedInfo().State.LastSeq)
}

// room says how much of the trail's room is used, in bytes; limit is -1 when
// there is none.
func (s stream) room(ctx context.Context) (used uint64, limit int64, err error) {
	handle, err := s.open(ctx)
	if err != nil {
		return 0, 0, err
	}
	info := handle.CachedInfo()
	return info.State.Bytes, info.Config.MaxBytes, nil
}

// append puts the message at n. Errors: errLost when another message has that
// number.
func (s stream) append(ctx context.Context, n uint64, message []byte) error {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	_, err := s.js.PublishMsg(ctx, &nats.Msg{Subject: s.subject, Data: message},
		jetstream.WithExpectStream(s.name), jetstream.WithExpectLastSequence(n-1), jetstream.WithRetryAttempts(0))
	if refused, ok := errors.AsType[*jetstream.APIError](err); ok {
		switch refused.ErrorCode {
		case jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant:
			return errLost
		}
	}
	if err != nil {
		return fmt.Errorf("append audit entry %d: %w", n, err)
	}
	return nil
}

// span is the numbers of the first and the last entry, last < first when there
// are none.
func (s stream) span(ctx context.Context) (first, last uint64, err error) {
	handle, err := s.open(ctx)
	if err != nil {
		return 0, 0, err
	}
	state := handle.CachedInfo().State
	return max(state.FirstSeq, 1), state.LastSeq, nil
}

// walk calls yield with the messages from number from to number to, in order,
// until it returns false. Numbers without a message are passed over.
func (s stream) walk(ctx context.Context, from, to uint64, yield func(n uint64, message []byte) bool) error {
	reader, err := ordered.Open(ctx, ordered.Config{JetStream: s.js, Stream: s.name, From: from})
	if err != nil {
		return fmt.Errorf("read the audit trail: %w", err)
	}
	defer reader.Stop()
	for {
		n, message, err := nextEntry(ctx, reader, to)
		if errors.Is(err, ordered.ErrEnd) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the audit trail: %w", err)
		}
		if !yield(n, message) {
			return nil
		}
	}
}

// nextEntry waits for the next message of the trail up to number to.
func nextEntry(ctx context.Context, reader *ordered.Reader, to uint64) (n uint64, message []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	msg, meta, err := reader.NextUpTo(ctx, to)
	if err != nil {
		return 0, nil, err
	}
	return meta.Sequence.Stream, msg.Data(), nil
}
