package selfcheck

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
)

// stretchBytes is how much of the log one look may read again: about as much as
// 10,000 events a second write in a minute. A longer stretch is not counted.
const stretchBytes = 256 << 20

// stretch is the part of the log since the last look, whose events are counted.
type stretch struct {
	counter eventlog.EventCounter
	from    projector.Checkpoint // of the last look
	earlier uint64               // fact at which the stretch before this one began
	missing string               // for people: the events that were missed, "" for none
}

// countEvents counts the events that came onto the log since the last look. It
// reads the blocks itself and compares the sum with the counters of the
// checkpoint. A difference raises the alarm [AlarmEvents].
func (c *Checker) countEvents(ctx context.Context) error {
	s := &c.stretch
	cp, err := c.cfg.Projector.Store().Checkpoint(ctx)
	if err != nil {
		return ignoreDamage(err)
	}
	from, earlier := s.from, s.earlier
	s.from, s.earlier = cp, s.from.Sequence
	if from.Row == 0 || cp.Log != from.Log || cp.Sequence <= from.Sequence {
		return nil // the first look, or the records were taken back
	}
	n, err := s.counter.Count(ctx, c.cfg.Log, from.Sequence+1, cp.Sequence, stretchBytes)
	switch {
	case errors.Is(err, eventlog.ErrTooMuch):
		return nil
	case err != nil:
		s.from, s.earlier = from, earlier // the next look tries again
		return err
	}
	if n.Lost > 0 {
		facts, err := eventlog.GapFacts(ctx, c.cfg.Log)
		if err != nil {
			return err
		}
		if explained(facts, earlier, cp.Sequence) {
			n.Lost = 0
		}
	}
	if log, err := eventlog.Inspect(ctx, c.cfg.Log); err != nil || log.First > from.Sequence+1 {
		return err // the log was purged while it was counted
	}
	if said := account(from, cp, n); said != "" {
		s.missing = said
	}
	if s.missing == "" {
		c.cfg.Alarms.Clear(AlarmEvents)
		return nil
	}
	c.cfg.Alarms.Raise(AlarmEvents, s.missing,
		"Run errata replay: it folds the log again and shows where the records differ. With --force it also replaces the records. Then restart the service.")
	return nil
}

// explained reports whether a known gap lies between the two facts. A gap raises
// its own alarm. The count may miss its events only in the stretch after it.
func explained(facts []eventlog.GapFact, from, to uint64) bool {
	return slices.ContainsFunc(facts, func(f eventlog.GapFact) bool { return f.From <= to && f.To >= from })
}

// account compares the events of a stretch with what the checkpoints say about
// them. It returns the difference in words, "" for none. A stretch with an
// unreadable block is not compared: the number of its events is unknown.
func account(from, to projector.Checkpoint, n eventlog.EventCount) string {
	counted, duplicates, off := to.Events-from.Events, to.Duplicates-from.Duplicates, to.Off-from.Off
	unreadable := to.Poison - from.Poison
	switch {
	case n.Lost > 0:
		return fmt.Sprintf("the log confirmed %d events between facts %d and %d and does not have them", n.Lost, from.Sequence, to.Sequence)
	case unreadable == 0 && n.Unreadable == 0 && n.Events != counted+duplicates+off:
		return fmt.Sprintf("facts %d to %d hold %d events; of them %d are counted, %d were repeats, %d came while recording was off",
			from.Sequence+1, to.Sequence, n.Events, counted, duplicates, off)
	default:
		return ""
	}
}
