package ordered

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

var (
	// ErrEnd says that the stream has no more messages up to the sequence that was named.
	ErrEnd = errors.New("there are no more messages")
	// ErrBehind says that the stream has a message which no node delivered that was tried.
	ErrBehind = errors.New("the nodes that were read from are behind")
)

// NextUpTo is Next as long as the stream has messages up to the sequence last, then it returns
// ErrEnd. A node that is read from may be behind the others. So when it has no more messages, the
// node that leads the stream is asked, and if that has one, another node is read from; after
// some tries the error is ErrBehind.
func (r *Reader) NextUpTo(ctx context.Context, last uint64) (jetstream.Msg, *jetstream.MsgMetadata, error) {
	for tries := 1; r.next <= last; tries++ {
		if r.still.more.Load() > 0 {
			msg, meta, err := r.Next(ctx)
			if err == nil && meta.Sequence.Stream > last {
				return nil, nil, ErrEnd
			}
			return msg, meta, err
		}
		more, err := r.leaderHas(ctx, last)
		switch {
		case err != nil:
			return nil, nil, err
		case !more:
			return nil, nil, ErrEnd
		case tries == openTries:
			return nil, nil, fmt.Errorf("read the stream %s from %d to %d: %w", r.cfg.Stream, r.next, last, ErrBehind)
		}
		r.drop()
		if err := r.open(ctx, never); err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, ErrEnd
}

// leaderHas asks the node that leads the stream for a message from the next one to last.
func (r *Reader) leaderHas(ctx context.Context, last uint64) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, createTimeout)
	defer cancel()
	subjects := r.cfg.Subjects
	if len(subjects) == 0 {
		subjects = []string{">"}
	}
	for _, subject := range subjects {
		m, found, err := Ask(ctx, r.cfg.JetStream, r.cfg.Stream, Query{Sequence: r.next, NextFor: subject})
		if err != nil {
			return false, fmt.Errorf("read the stream %s from %d on: %w", r.cfg.Stream, r.next, err)
		}
		if found && m.Sequence <= last {
			return true, nil
		}
	}
	return false, nil
}
