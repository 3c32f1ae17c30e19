package audit

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"time"

	"github.com/errata-log/errata/eventlog"
)

const (
	// answerPoll is how often the store is asked, in case the announcement of a
	// commit was lost.
	answerPoll = 500 * time.Millisecond
	// maxMissing is how often an answer may be missing after the projection has
	// passed its command: replicas may lack it for a moment. After that the
	// entry is written without it, because the change was made.
	maxMissing = 10
)

// folded wakes the auditor when the projection passes the command that it waits
// for.
type folded struct {
	awaited atomic.Uint64
	wake    chan struct{} // capacity 1
}

func newFolded() *folded { return &folded{wake: make(chan struct{}, 1)} }

func (f *folded) progressed(p eventlog.Progress) {
	if awaited := f.awaited.Load(); awaited == 0 || p.Checkpoint < awaited {
		return
	}
	select {
	case f.wake <- struct{}{}:
	default: // it is awake
	}
}

// answer waits for the answer to the command at sequence.
func (a *Auditor) answer(ctx context.Context, sequence uint64) (eventlog.Answer, error) {
	a.folded.awaited.Store(sequence)
	defer a.folded.awaited.Store(0)
	poll := time.NewTicker(answerPoll)
	defer poll.Stop()
	for missing, told := 0, false; ; {
		answer, checkpoint, err := a.cfg.Answers.Answer(ctx, sequence)
		switch {
		case err == nil && checkpoint >= sequence:
			return answer, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, sql.ErrNoRows) && checkpoint >= sequence:
			if missing++; missing >= maxMissing {
				a.cfg.Logger.Warn("a command has no answer; its audit entry is written without it", "sequence", sequence)
				return nil, nil
			}
		case err != nil && !told:
			told = true
			a.failed(err)
			a.cfg.Logger.Warn("the answer to a command cannot be read; its audit entry waits for it", "sequence", sequence, "error", err)
		}
		select {
		case <-a.folded.wake:
		case <-poll.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
