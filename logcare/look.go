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
	// glancePause is how often the log is asked whether its numbers fit: how
	// many messages it has and between which sequences. It costs one question.
	glancePause = 5 * time.Second
	// lookShare is how much longer the look waits than it works: one tenth of a
	// processor at most, and of what the disk can read.
	lookShare = 9
	// lookPart is the part of a processor that looks and the pauses behind them
	// take together: one hundredth. What it buys is how soon a bit is noticed that
	// a disk flips while the service runs: after ten times what a look takes.
	lookPart = 100
	// leastPause is enough: how soon somebody is told is counted in minutes. A look
	// at a small log works for milliseconds, and wakes a sleeping machine.
	leastPause = time.Minute
	// mostPause is behind a look of 40 minutes or more: every part of a log of any
	// size is looked at several times a day.
	mostPause = 6 * time.Hour
	// lookWork is how long it works at a time.
	lookWork = 5 * time.Millisecond
	// lookAgain is the pause behind a look that failed.
	lookAgain = 10 * time.Second
)

// pauseBehind is how long to wait after a look that took so long: longer the larger
// the log is.
func pauseBehind(took time.Duration) time.Duration {
	return min(max(took*(lookPart/(1+lookShare)-1), leastPause), mostPause)
}

// Start begins to look for gaps: at once, whenever the log's own numbers say so,
// and again and again with a pause between; see pauseBehind. Stop ends it.
func (k *Keeper) Start() {
	var missing uint64 // as the last look found it
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

// Stop ends the looking. It may be called more than once, also before Start.
func (k *Keeper) Stop() { _ = k.work.Stop(context.Background()) }

// missing is how many messages the log says that it lacks, by its own numbers.
func (k *Keeper) missing(ctx context.Context) (uint64, error) {
	state, err := eventlog.Inspect(ctx, k.cfg.Log)
	if err != nil || state.Last < state.First {
		return 0, err
	}
	return state.Last - state.First + 1 - min(state.Facts, state.Last-state.First+1), nil
}

// look reads the whole log slowly and notes what is gone.
func (k *Keeper) look(ctx context.Context) error {
	report, err := eventlog.Verify(ctx, k.cfg.Log, pacer(ctx))
	if err != nil {
		return err
	}
	_, err = k.found(ctx, report)
	return err
}

// Verify reads the whole log at full speed, notes what is gone and says what it
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

// found takes note of what a look has found, and gives its gaps the names that
// are known.
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
	k.tell()
	return report, nil
}

// decision is what was decided about a stretch, and the name of the operator who
// did so last.
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

// cameBack are the gaps that stand on the log and are none any more: their facts
// were put back, and the records were not made anew since.
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

// pacer makes a step of a look that leaves the machine to others: it works for
// lookWork and waits lookShare times as long.
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
