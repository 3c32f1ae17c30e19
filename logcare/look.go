package logcare

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/background"
)

const (
	// glancePause is how often the log is asked for its number of messages and its
	// first and last sequence, which must fit. It costs one question.
	glancePause = 5 * time.Second
	// A look is one reading of the whole log. After each piece of work it waits
	// lookShare times as long, so it takes at most a tenth of a processor and disk.
	lookShare = 9
	// lookPart: looks with the pauses between them take a hundredth of a processor.
	// A flipped bit is noticed after at most ten times the length of a look.
	lookPart = 100
	// leastPause is the shortest pause after a look. An alarm may come minutes
	// later, and a shorter pause would wake a sleeping machine for a small log.
	leastPause = time.Minute
	// mostPause is the pause after a look of 40 minutes or more, so that a log of
	// any size is read several times a day.
	mostPause = 6 * time.Hour
	// lookWork is how long a look works at a time.
	lookWork = 5 * time.Millisecond
	// lookAgain is the pause after a look that failed.
	lookAgain = 10 * time.Second
)

// pauseBehind is the pause after a look that took so long: the larger the log, the
// longer.
func pauseBehind(took time.Duration) time.Duration {
	return min(max(took*(lookPart/(1+lookShare)-1), leastPause), mostPause)
}

// Start begins to search for gaps: at once, when the log's own numbers change, and
// again after each pause; see pauseBehind. Stop ends it.
func (k *Keeper) Start() {
	var missing uint64 // at the last look
	var next time.Time
	k.work.Start(background.Loop{Every: glancePause, Do: func(ctx context.Context) error {
		if now, err := k.missing(ctx); err == nil && now != missing {
			next = time.Time{}
			missing = now
		}
		if time.Now().Before(next) {
			return nil
		}
		began := time.Now()
		err := k.look(ctx)
		next = time.Now().Add(pauseBehind(time.Since(began)))
		if err != nil {
			next = time.Now().Add(lookAgain)
		}
		return err
	}, Failed: background.Tell(k.cfg.Logger.Warn, "the log could not be checked; it is tried again")}.Run)
}

// Stop ends the search. It may be called more than once, also before Start.
func (k *Keeper) Stop() { _ = k.work.Stop(context.Background()) }

// missing is how many messages the log lacks by its own numbers.
func (k *Keeper) missing(ctx context.Context) (uint64, error) {
	state, err := eventlog.Inspect(ctx, k.cfg.Log)
	if err != nil || state.Last < state.First {
		return 0, err
	}
	return state.Last - state.First + 1 - min(state.Facts, state.Last-state.First+1), nil
}

// look reads the whole log slowly and notes its gaps.
func (k *Keeper) look(ctx context.Context) error {
	report, err := eventlog.Verify(ctx, k.cfg.Log, pacer(ctx))
	if err != nil {
		return err
	}
	_, err = k.found(ctx, report)
	return err
}

// Verify reads the whole log at full speed, notes its gaps and returns what it
// found. Kinds: log_unavailable.
func (k *Keeper) Verify(ctx context.Context) (Report, error) {
	r, err := eventlog.Verify(ctx, k.cfg.Log, nil)
	if err == nil {
		r, err = k.found(ctx, r)
	}
	if err != nil {
		return Report{}, err
	}
	return Report{
		OK: len(r.Gaps) == 0, First: r.First, Last: r.Last, Facts: r.Facts, Blocks: r.Blocks,
		Events: r.Events, Bytes: r.Bytes, Gaps: Gaps(r.Gaps),
	}, nil
}

// found notes the gaps of a report on the log, and adds to them the files and what
// was decided.
func (k *Keeper) found(ctx context.Context, report eventlog.Report) (eventlog.Report, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.refresh(ctx); err != nil {
		return report, err
	}
	for i := range report.Gaps {
		g := &report.Gaps[i]
		g.Files = k.locate(g.From, g.To)
		if _, err := k.note(ctx, g.From, g.To, g.Why); err != nil {
			return report, fmt.Errorf("note a gap: %w", err)
		}
		g.By, g.Name = decision(k.facts, g.From, g.To)
	}
	k.looked = time.Now().UTC()
	var err error
	if k.healed, err = k.cameBack(ctx, report); err != nil {
		return report, err
	}
	k.updateAlarms()
	return report, nil
}

// decision returns what was decided about a stretch, and the operator who decided
// last.
func decision(facts []eventlog.GapFact, from, to uint64) (by, name string) {
	if !eventlog.Covered(from, to, facts, func(f eventlog.GapFact) bool { return f.By == eventlog.GapByOperator }) {
		return eventlog.GapByPolicy, ""
	}
	for _, f := range facts {
		if f.By == eventlog.GapByOperator && f.From <= to && from <= f.To {
			name = f.Name
		}
	}
	return eventlog.GapByOperator, name
}

// cameBack returns the gaps that are noted on the log although their facts are
// there again, and after which no replay was made.
func (k *Keeper) cameBack(ctx context.Context, report eventlog.Report) ([]eventlog.Gap, error) {
	var list []eventlog.Gap
	for _, gap := range append(eventlog.OpenGaps(k.facts), eventlog.SettledGaps(k.facts)...) {
		overlaps := func(other eventlog.Gap) bool { return gap.From <= other.To && other.From <= gap.To }
		if gap.To < report.First || slices.ContainsFunc(report.Gaps, overlaps) {
			continue
		}
		if gap.Why == eventlog.GapOlder {
			filled, err := eventlog.Filled(ctx, k.cfg.Log, gap.From)
			if err != nil {
				return nil, err
			}
			if filled {
				continue
			}
		}
		list = append(list, gap)
	}
	return list, nil
}

// pacer makes the step function of a look that leaves the machine to others: after
// lookWork of work it waits lookShare times as long.
func pacer(ctx context.Context) func() error {
	began := time.Now()
	return func() error {
		worked := time.Since(began)
		if worked < lookWork {
			return nil
		}
		if !background.Wait(ctx, lookShare*min(worked, 10*lookWork)) {
			return ctx.Err()
		}
		began = time.Now()
		return nil
	}
}
