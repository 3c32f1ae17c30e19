package selfcheck

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
)

// stretchBytes is how much of the log is read again in a look: what 10,000
// events a second put there in a minute. A longer stretch is passed over.
const stretchBytes = 256 << 20

// stretch is how far the log's events have been held against those that the
// records account for.
type stretch struct {
	counter eventlog.EventCounter
	from    projector.Checkpoint
	earlier uint64 // where the stretch before this one began
	missing string // what was found, "" for nothing
}

// countEvents counts the events that came on the log since the last look, by
// itself, and holds them against what the checkpoint says became of them.
func (c *Checker) countEvents(ctx context.Context) error {
	s := &c.stretch
	cp, err := c.cfg.Projector.Store().Checkpoint(ctx)
	if err != nil {
		return ignoreDamage(err)
	}
	from, earlier := s.from, s.earlier
	s.from, s.earlier = cp, s.from.Sequence
	if from.Row == 0 || cp.Log != from.Log || cp.Sequence <= from.Sequence {
		return nil // a beginning, or the records were taken back
	}
	n, err := s.counter.Count(ctx, c.cfg.Log, from.Sequence+1, cp.Sequence, stretchBytes)
	switch {
	case errors.Is(err, eventlog.ErrTooMuch):
		return nil
	case err != nil:
		s.from, s.earlier = from, earlier // again with the next look
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
		return err // it was cut meanwhile
	}
	if said := account(from, cp, n); said != "" {
		s.missing = said
	}
	if s.missing == "" {
		c.cfg.Alarms.Clear(AlarmEvents)
		return nil
	}
	c.cfg.Alarms.Raise(AlarmEvents, s.missing,
		"errata replay folds the log again and says where the records differ from it; it takes the log's with --force. Restart the service then.")
	return nil
}

// explained says whether a gap is known between two facts: that has an alarm of
// its own, and whoever counts on behind it finds events missing.
func explained(facts []eventlog.GapFact, from, to uint64) bool {
	return slices.ContainsFunc(facts, func(f eventlog.GapFact) bool { return f.From <= to && f.To >= from })
}

// account says what of the events on the stretch is not accounted for; "" when
// all is. How many events are in a block that cannot be read nobody knows.
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
