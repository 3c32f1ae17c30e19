package eventlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/internal/background"
)

// emptyPause is the pause between two looks at a spool, and emptyPatience the most that one
// who leaves waits until it is empty.
const emptyPause, emptyPatience = 50 * time.Millisecond, 3 * time.Second

// SpoolDrain moves what a node has kept while the log had no leader to the log.
type SpoolDrain struct {
	cfg  DrainConfig
	left <-chan struct{}
	work background.Runner
}

// StartSpoolDrain begins to move. left is closed when nobody will move what is there after Stop.
func StartSpoolDrain(cfg DrainConfig, left <-chan struct{}) *SpoolDrain {
	s := &SpoolDrain{cfg: cfg, left: left}
	s.work.Start(NewDrain(cfg).Run)
	return s
}

// Stop ends moving. Nobody may append any more. What is left waits for the next start, or is moved
// before when there will be none.
func (s *SpoolDrain) Stop(ctx context.Context) error {
	var err error
	select {
	case <-s.left:
		err = s.empty(ctx)
	default:
	}
	return errors.Join(err, s.work.Stop(ctx))
}

// empty waits until nothing is in the spool, and says how much there is when that takes too long.
func (s *SpoolDrain) empty(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, emptyPatience)
	defer cancel()
	for {
		stream, err := s.cfg.JetStream.Stream(ctx, s.cfg.Stream)
		if err == nil {
			waiting := stream.CachedInfo().State.Msgs
			if waiting == 0 {
				return nil
			}
			err = fmt.Errorf("%d blocks of events stay on the disk of this node", waiting)
		}
		if !background.Wait(ctx, emptyPause) {
			return fmt.Errorf("empty the spool of this node: %w", err)
		}
	}
}

// moved waits until the blocks that are in a spool now are on the log, or ctx ends. The spool of
// nobody, nil, has none.
func moved(ctx context.Context, spool *Log) error {
	for upTo := uint64(0); spool != nil; {
		stream, err := spool.JetStream.Stream(ctx, spool.Stream)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			return nil // the node starts, and has never had one
		}
		if err != nil {
			return fmt.Errorf("look into the spool of this node: %w", err)
		}
		state := stream.CachedInfo().State
		if upTo == 0 {
			upTo = state.LastSeq
		}
		if state.Msgs == 0 || state.FirstSeq > upTo {
			return nil
		}
		if !background.Wait(ctx, emptyPause) {
			return fmt.Errorf("wait until %d blocks of the spool are on the log: %w", state.Msgs, ctx.Err())
		}
	}
	return nil
}
