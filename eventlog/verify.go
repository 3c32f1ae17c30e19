package eventlog

import (
	"context"
	"errors"
	"fmt"
)

// Report is what a check of every fact of the log found.
type Report struct {
	// First and Last are the sequences that the log should have.
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	// Facts is how many were read, Blocks how many of them are readable blocks.
	Facts  uint64 `json:"facts"`
	Blocks uint64 `json:"blocks"`
	Events uint64 `json:"events"`
	Bytes  uint64 `json:"bytes"`
	// Gaps are in the order of the log.
	Gaps []Gap `json:"gaps"`
}

// Verify reads the log from its first fact to the last one at this moment. It
// checks that every fact is there and has its checksum, and that every block can be
// decoded. step, if it is not nil, is called after each fact; its error ends the
// check.
func Verify(ctx context.Context, log Log, step func() error) (Report, error) {
	state, err := Inspect(ctx, log)
	if err != nil {
		return Report{}, err
	}
	report := Report{First: state.First, Last: state.Last, Gaps: []Gap{}}
	if report.First, err = trueFirst(ctx, log, state.First); err != nil {
		return Report{}, err
	}
	if report.First < state.First {
		report.gap(report.First, state.First-1, GapMissing)
	}
	if state.Last < max(state.First, 1) {
		return report, nil
	}
	r, err := NewReaderUntil(ctx, log, state.First, state.Last)
	if err != nil {
		return Report{}, err
	}
	defer r.Close()
	if err := report.read(ctx, r, step); err != nil {
		return Report{}, err
	}
	if err := report.afterPurge(ctx, log); err != nil {
		return Report{}, err
	}
	for i := range report.Gaps {
		g := &report.Gaps[i]
		if g.Events, err = EstimateGap(ctx, log, g.From, g.To); err != nil {
			return Report{}, err
		}
	}
	return report, nil
}

// afterPurge removes from the gaps the facts that were purged during the check.
func (report *Report) afterPurge(ctx context.Context, log Log) error {
	if len(report.Gaps) == 0 {
		return nil
	}
	state, err := Inspect(ctx, log)
	if err != nil {
		return err
	}
	first, err := trueFirst(ctx, log, state.First)
	if err != nil || first <= report.First {
		return err
	}
	report.First = first
	gaps := report.Gaps[:0]
	for _, g := range report.Gaps {
		if g.From = max(g.From, first); g.From <= g.To {
			gaps = append(gaps, g)
		}
	}
	report.Gaps = gaps
	return nil
}

// Purged says whether a fact is gone because the log was purged of it.
func Purged(ctx context.Context, log Log, sequence uint64) (bool, error) {
	state, err := Inspect(ctx, log)
	if err != nil || sequence >= state.First {
		return false, err
	}
	first, err := trueFirst(ctx, log, state.First)
	return sequence < first, err
}

// read checks every fact up to Last.
func (report *Report) read(ctx context.Context, r *Reader, step func() error) error {
	var scratch []byte
	for at := uint64(0); at < report.Last; {
		f, err := r.Next(ctx)
		var gap *GapError
		switch {
		case errors.As(err, &gap):
			at = gap.To
			report.gap(gap.From, min(gap.To, report.Last), gap.Why)
			continue
		case err != nil:
			return fmt.Errorf("read every fact of the log: %w", err)
		}
		at = f.Sequence
		report.Facts++
		report.Bytes += uint64(len(f.Data))
		if f.Kind == FactEvents {
			block, err := DecodeBlock(f.Data, scratch)
			if errors.Is(err, ErrNewer) {
				return fmt.Errorf("read fact %d: %w", at, err)
			}
			if err != nil {
				report.gap(at, at, GapUnreadable)
				continue
			}
			scratch = block.Raw()
			report.Blocks++
			report.Events += uint64(block.Len())
		}
		if step != nil {
			if err := step(); err != nil {
				return err
			}
		}
	}
	return nil
}

// gap notes a gap, or makes the last one longer when it ends right before.
func (report *Report) gap(from, to uint64, why string) {
	if n := len(report.Gaps); n > 0 {
		if last := &report.Gaps[n-1]; last.To+1 == from && last.Why == why {
			last.To = to
			return
		}
	}
	report.Gaps = append(report.Gaps, Gap{From: from, To: to, Why: why})
}

// trueFirst is the sequence of the first fact that the log should have: 1, or the
// Keep of a snapshot, before which the log may be purged.
func trueFirst(ctx context.Context, log Log, first uint64) (uint64, error) {
	if first <= 1 {
		return first, nil
	}
	kept := uint64(1)
	for m, err := range messagesFrom(ctx, log, subjectCommands+CommandSnapshot, first) {
		if err != nil {
			return 0, fmt.Errorf("look for what the log was purged to: %w", err)
		}
		if keep := StoredKeep(m.bareSubject(log), m.data); keep <= first {
			kept = max(kept, keep)
		}
	}
	return kept, nil
}
