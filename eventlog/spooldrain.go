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

// empty waits a moment until nothing is in the spool. When that takes too long, the error says how
// much is in it.
func (s *SpoolDrain) empty(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, emptyPatience)
	defer cancel()
	return moved(ctx, s.cfg.JetStream, s.cfg.Stream)
}

// moved waits until the blocks that are in a spool now are on the log, or ctx ends.
func moved(ctx context.Context, js jetstream.JetStream, spool string) error {
	for upTo := uint64(0); ; {
		stream, err := js.Stream(ctx, spool)
		if err == nil {
			state := stream.CachedInfo().State
			if upTo == 0 {
				upTo = state.LastSeq
			}
			if state.Msgs == 0 || state.FirstSeq > upTo {
				return nil
			}
			err = fmt.Errorf("%d blocks of events stay on the disk of this node", state.Msgs)
		}
		if errors.Is(err, jetstream.ErrStreamNotFound) || !background.Wait(ctx, emptyPause) {
			return fmt.Errorf("empty the spool of this node: %w", err)
		}
	}
}
