package eventlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/errata-log/errata/internal/background"
)

// emptyPause is the pause between two looks whether a spool is empty, and emptyPatience the most
// that one waits for it.
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
