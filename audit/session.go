package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/ordered"
)

// foreignLook is how often the end of the trail is checked for foreign
// messages, which nobody announces.
const foreignLook = 5 * time.Second

// session is one run of the auditor from the last entry on, until an error.
// State that a failure could have made wrong stands here and ends with it.
type session struct {
	a       *Auditor
	head    head
	handled Cursors // at least those of head
	changes chan change
}

// session reads the last entry and goes on from there until an error or ctx
// ends it.
func (a *Auditor) session(ctx context.Context) error {
	stop, err := eventlog.FollowProgress(a.cfg.Log, a.folded.progressed)
	if err != nil {
		return err
	}
	defer func() { _ = stop() }() // it fails only when the connection is gone
	s := &session{a: a, changes: make(chan change)}
	if s.head, err = a.trail.head(ctx); err != nil {
		return err
	}
	s.handled = s.head.cursors
	if err := s.nameForeign(ctx); err != nil {
		return err
	}
	if err := s.tellGaps(ctx); err != nil {
		return err
	}
	state, err := eventlog.Inspect(ctx, a.cfg.Log)
	if err != nil {
		return err
	}
	facts, err := eventlog.NewChangesReader(ctx, a.cfg.Log, max(s.handled.Log+1, state.First))
	if err != nil {
		return err
	}
	defer facts.Close()
	keys, err := a.keys.open(ctx, s.handled.Keys+1)
	if err != nil {
		return err
	}
	defer keys.Stop()
	a.reached(s.handled)
	return s.run(ctx, facts, keys)
}

// run runs the goroutines of the session: the first error ends all of them.
func (s *session) run(ctx context.Context, facts *eventlog.Reader, keys *ordered.Reader) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.readFacts(ctx, facts) })
	group.Go(func() error { return s.readKeys(ctx, keys) })
	group.Go(func() error { return s.write(ctx) })
	return group.Wait()
}

func (s *session) readFacts(ctx context.Context, facts *eventlog.Reader) error {
	for {
		f, err := facts.Next(ctx)
		if err != nil {
			return err
		}
		if err := s.pass(ctx, changeOf(s.a.cfg.Log.Stream, &f)); err != nil {
			return err
		}
	}
}

func (s *session) readKeys(ctx context.Context, keys *ordered.Reader) error {
	for {
		msg, meta, err := keys.Next(ctx)
		if err != nil {
			return fmt.Errorf("next change of an API key: %w", err)
		}
		c, err := s.a.keys.change(ctx, msg, meta)
		if err != nil {
			return err
		}
		if err := s.pass(ctx, c); err != nil {
			return err
		}
	}
}

func (s *session) pass(ctx context.Context, c change) error {
	select {
	case s.changes <- c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write gives each change its entry, in the order in which they come.
func (s *session) write(ctx context.Context) error {
	look := time.NewTicker(foreignLook)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			if err := s.checkForForeign(ctx); err != nil {
				return err
			}
		case c := <-s.changes:
			if err := s.take(ctx, c); err != nil {
				return err
			}
			s.a.reached(s.handled)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take writes the entry of one change, if it needs one.
func (s *session) take(ctx context.Context, c change) error {
	if c.sequence() <= *s.handled.of(c.from) {
		return nil // another auditor was faster
	}
	if !c.silent {
		if c.answered {
			answer, err := s.a.answer(ctx, c.sequence())
			if err != nil {
				return fmt.Errorf("wait for the answer to command %d: %w", c.sequence(), err)
			}
			c.entry.Result = part(answer)
		}
		if err := s.append(ctx, c, c.sequence()); err != nil {
			return err
		}
	}
	cursor := s.handled.of(c.from)
	*cursor = max(*cursor, c.sequence())
	return nil
}

// append writes the entry of c, which moves the cursor of its source to cursor,
// unless another auditor has written it meanwhile.
func (s *session) append(ctx context.Context, c change, cursor uint64) error {
	for {
		e := c.entry
		e.Cursors = s.handled
		*e.Cursors.of(c.from) = cursor
		sealed, message, err := e.seal(s.head.n+1, s.head.hash)
		if err != nil {
			return err
		}
		err = s.a.trail.append(ctx, sealed.N, message)
		if err == nil {
			s.head, s.handled = head{n: sealed.N, hash: sealed.Hash, cursors: sealed.Cursors}, sealed.Cursors
			return nil
		}
		if !errors.Is(err, errLost) || c.entry.Action == ActionGap || c.entry.Action == ActionForeign {
			return err // the next session finds out whether the entry is still needed
		}
		now, err := s.a.trail.head(ctx)
		if err != nil {
			return err
		}
		if now.foreign.first > 0 {
			return errForeign
		}
		if now.n <= s.head.n {
			return fmt.Errorf("audit entry %d is refused and %d is the last: %w", sealed.N, now.n, errLost)
		}
		s.head = now
		s.handled = Cursors{Log: max(s.handled.Log, now.cursors.Log), Keys: max(s.handled.Keys, now.cursors.Keys)}
		if c.sequence() <= *now.cursors.of(c.from) {
			return nil
		}
	}
}

// tellGaps appends an entry for what the sources have lost since the last
// entry: the front of a log that was purged, or the end of a source that came
// back shorter, whose sequences will be used again. At the first start there is
// nothing to lose.
func (s *session) tellGaps(ctx context.Context) error {
	if s.head.n == 0 {
		return nil
	}
	cfg := &s.a.cfg
	log, err := eventlog.Inspect(ctx, cfg.Log)
	if err != nil {
		return err
	}
	keysEnd, err := s.a.keys.end(ctx)
	if err != nil {
		return err
	}
	at := s.handled
	for _, gap := range []struct {
		is          bool
		from        origin
		stream      string
		first, last uint64
		reason      string
		cursor      uint64
	}{
		{at.Log > log.Last, fromLog, cfg.Log.Stream, log.Last + 1, at.Log, "the source is shorter than it was", log.Last},
		{at.Log <= log.Last && log.First > at.Log+1, fromLog, cfg.Log.Stream, at.Log + 1, log.First - 1, "purged", log.First - 1},
		{at.Keys > keysEnd, fromKeys, s.a.keys.streamName(), keysEnd + 1, at.Keys, "the source is shorter than it was", keysEnd},
	} {
		if !gap.is {
			continue
		}
		cfg.Logger.Warn("changes were lost before they had an audit entry; an entry names them", "stream", gap.stream, "first", gap.first, "last", gap.last, "reason", gap.reason)
		if err := s.append(ctx, gapChange(gap.from, gap.stream, gap.first, gap.last, gap.reason, cfg.Now()), gap.cursor); err != nil {
			return err
		}
	}
	return nil
}
