package audit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/internal/ordered"
)

// operationHeader marks revisions that remove an entry of a bucket.
const operationHeader = "KV-Operation"

// keySource reads the stream behind the bucket of API keys.
type keySource struct {
	js     jetstream.JetStream
	bucket string
}

func (k keySource) streamName() string { return "KV_" + k.bucket }
func (k keySource) prefix() string     { return "$KV." + k.bucket + "." }

func (k keySource) stream(ctx context.Context) (jetstream.Stream, error) {
	s, err := k.js.Stream(ctx, k.streamName())
	if err != nil {
		return nil, fmt.Errorf("open the stream of API keys: %w", err)
	}
	return s, nil
}

// end is the sequence of the last message of the stream.
func (k keySource) end(ctx context.Context) (uint64, error) {
	s, err := k.stream(ctx)
	if err != nil {
		return 0, err
	}
	return s.CachedInfo().State.LastSeq, nil
}

// last is the sequence of the last revision of any key, 0 for none.
func (k keySource) last(ctx context.Context) (uint64, error) {
	s, err := k.stream(ctx)
	if err != nil {
		return 0, err
	}
	msg, err := s.GetLastMsgForSubject(ctx, k.prefix()+access.TracedEntries)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("last change of an API key: %w", err)
	}
	return msg.Sequence, nil
}

// open reads the revisions of keys from a sequence on.
func (k keySource) open(ctx context.Context, from uint64) (*ordered.Reader, error) {
	return ordered.Open(ctx, ordered.Config{JetStream: k.js, Stream: k.streamName(), From: from, Subjects: []string{k.prefix() + access.TracedEntries}})
}

// change reads a revision, and the one before it from the bucket's history.
func (k keySource) change(ctx context.Context, msg jetstream.Msg, meta *jetstream.MsgMetadata) (change, error) {
	w := keyWrite{
		stream: k.streamName(), sequence: meta.Sequence.Stream, name: strings.TrimPrefix(msg.Subject(), k.prefix()),
		value: msg.Data(), removed: msg.Headers().Get(operationHeader) != "", at: meta.Timestamp,
	}
	before, err := k.before(ctx, msg.Subject(), w.sequence)
	if err != nil {
		return change{}, err
	}
	return keyChange(w, before), nil
}

// before is the value that a revision replaced, nil when there was none. The
// history is short, so this reads a few messages.
func (k keySource) before(ctx context.Context, subject string, sequence uint64) ([]byte, error) {
	s, err := k.stream(ctx)
	if err != nil {
		return nil, err
	}
	var before []byte
	for next := uint64(1); ; {
		msg, err := s.GetMsg(ctx, next, jetstream.WithGetMsgSubject(subject))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return before, nil
		}
		if err != nil {
			return nil, fmt.Errorf("history of an API key: %w", err)
		}
		if msg.Sequence >= sequence {
			return before, nil
		}
		before = msg.Data
		if msg.Header.Get(operationHeader) != "" {
			before = nil
		}
		next = msg.Sequence + 1
	}
}
