package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/internal/background"
)

const (
	// publishTimeout bounds one try to append. After it the outcome is unknown,
	// and the last entry is read again.
	publishTimeout = 2 * time.Second
	// fetchTimeout bounds one pull of entries.
	fetchTimeout = 5 * time.Second
	// fetchEntries is how many entries one pull brings: of the largest entries
	// it is half of the 64 MB that a server buffers for a client.
	fetchEntries = 100
	// idleConsumer is when the server removes the consumer of a reader that is
	// gone.
	idleConsumer = 30 * time.Second
)

// consumerPauses are the pauses between tries to find a consumer that was just made.
var consumerPauses = background.Pauses{First: 5 * time.Millisecond, Most: 200 * time.Millisecond}

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
	consumer, err := s.js.CreateConsumer(ctx, s.name, jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: from,
		AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1, InactiveThreshold: idleConsumer,
	})
	if err != nil {
		return fmt.Errorf("read the audit trail from %d: %w", from, err)
	}
	info := consumer.CachedInfo()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishTimeout)
		defer cancel()
		_ = s.js.DeleteConsumer(ctx, s.name, info.Name) // the server forgets it anyway
	}()
	// In a cluster the consumer may be on another node, which this one does not know at once.
	found, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	tries := consumerPauses.Begin()
	var delivered uint64
	for pending := info.NumPending; pending > delivered && from <= to; {
		batch, err := consumer.Fetch(int(min(pending-delivered, to-from+1, fetchEntries)), jetstream.FetchMaxWait(fetchTimeout))
		if err != nil {
			return fmt.Errorf("read the audit trail from %d: %w", from, err)
		}
		before := delivered
		for msg := range batch.Messages() {
			meta, err := msg.Metadata()
			if err != nil {
				return fmt.Errorf("metadata of an audit entry: %w", err)
			}
			delivered++
			if meta.Sequence.Consumer != delivered {
				return fmt.Errorf("read the audit trail from %d: the connection lost an entry on the way", from)
			}
			if from = meta.Sequence.Stream + 1; from > to+1 || !yield(from-1, msg.Data()) {
				return nil
			}
		}
		if errors.Is(batch.Error(), nats.ErrNoResponders) && delivered == before && tries.Wait(found) {
			continue
		}
		if err := errors.Join(batch.Error(), ctx.Err()); err != nil || delivered == before {
			return fmt.Errorf("read the audit trail from %d: it did not come in time: %w", from, errors.Join(err, context.DeadlineExceeded))
		}
	}
	return nil
}
