package projector

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/errata-log/errata/eventlog"
)

// metGaps collects the gaps that a rebuild meets. It passes all of them: a replay
// shows what the log has, whatever was decided about its gaps.
type metGaps struct {
	live Gaps // of the live projector, may be nil

	mu   sync.Mutex
	list []eventlog.Gap
}

// Pass notes the gap. It also reports it to the Gaps of the live projector, whose
// answer does not count here.
func (m *metGaps) Pass(ctx context.Context, from, to uint64, why string) error {
	if m.live != nil {
		_ = m.live.Pass(ctx, from, to, why) // the comparison shows the gap in any case
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.ContainsFunc(m.list, func(g eventlog.Gap) bool { return g.From == from && g.To == to }) {
		m.list = append(m.list, eventlog.Gap{From: from, To: to, Why: why})
	}
	return nil
}

// Older does nothing: a rebuild never goes further than the log.
func (m *metGaps) Older(context.Context, uint64, uint64) error { return nil }

// lacks adds the gaps of the log to the comparison.
func (r *rebuild) lacks(ctx context.Context, to *Comparison) error {
	facts, err := eventlog.GapFacts(ctx, r.live.cfg.Log)
	if err != nil {
		return err
	}
	to.Gaps = append([]eventlog.Gap{}, r.gaps.list...)
	for i := range to.Gaps {
		g := &to.Gaps[i]
		if g.Events, err = eventlog.EstimateGap(ctx, r.live.cfg.Log, g.From, g.To); err != nil {
			return err
		}
		if eventlog.Covered(g.From, g.To, facts, func(f eventlog.GapFact) bool { return f.By == eventlog.GapByOperator }) {
			g.By = eventlog.GapByOperator
		}
	}
	for _, f := range facts {
		if f.Why == eventlog.GapOlder && f.From >= r.from && !slices.Contains(to.Gaps, f.Gap) &&
			!eventlog.Covered(f.From, f.To, facts, func(later eventlog.GapFact) bool {
				return later.By != eventlog.GapByPolicy && later.Sequence > f.Sequence
			}) {
			filled, err := eventlog.Filled(ctx, r.live.cfg.Log, f.From)
			if err != nil {
				return err
			}
			if filled { // otherwise a repair has put the facts back
				to.Gaps = append(to.Gaps, f.Gap)
			}
		}
	}
	for _, g := range to.Gaps {
		if g.By != eventlog.GapByOperator {
			to.Differences = append(to.Differences, fmt.Sprintf("the log: %v, and nobody has accepted that", g))
		}
	}
	return nil
}
