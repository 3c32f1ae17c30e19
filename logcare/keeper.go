package logcare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/logfiles"
)

// Policy says what happens at a gap before an operator has decided about it.
type Policy string

// The policies.
const (
	// Accept continues after the gap at once.
	Accept Policy = "accept"
	// Stop folds nothing more until an operator has accepted the gap.
	Stop Policy = "stop"
)

// ParsePolicy reads the name of a policy; "" is Accept.
func ParsePolicy(text string) (Policy, error) {
	switch p := Policy(text); p {
	case "":
		return Accept, nil
	case Accept, Stop:
		return p, nil
	}
	return "", fmt.Errorf("%q is not %s or %s", text, Accept, Stop)
}

// Alarms shows alarms to the operator.
type Alarms interface {
	Raise(name, detail, hint string)
	Clear(name string)
}

// Config is what a Keeper needs.
type Config struct {
	Log    eventlog.Log
	Policy Policy
	Alarms Alarms
	// Folder has the files of the embedded NATS, "" when NATS is external. Mended
	// are the files of any stream that were mended at its start.
	Folder string
	Mended []logfiles.Mended
	// LazySync says that the log may lose its end in a power cut.
	LazySync bool
	// Logger gets what the operator should know, nil for nothing.
	Logger *slog.Logger
	// Registerer receives the metrics; nil for none.
	Registerer prometheus.Registerer
}

// Keeper searches the log for gaps and applies the policy to them. It is safe for
// concurrent use.
type Keeper struct {
	cfg     Config
	metrics *metrics

	mu    sync.Mutex // held while the log is read and appended to
	facts []eventlog.GapFact
	// healed are the gaps whose facts are back, stopped is the gap at which the
	// policy has stopped folding.
	healed  []eventlog.Gap
	stopped *eventlog.Gap
	looked  time.Time

	work background.Runner
}

// New reads the facts about gaps from the log. Start begins to search for gaps.
func New(ctx context.Context, cfg Config) (*Keeper, error) {
	if cfg.Alarms == nil || cfg.Log.JetStream == nil {
		return nil, errors.New("logcare: Log and Alarms are required")
	}
	cfg.Policy = cmp.Or(cfg.Policy, Accept)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	k := &Keeper{cfg: cfg, metrics: newMetrics(cfg.Registerer)}
	k.alarmMended()
	k.mu.Lock()
	defer k.mu.Unlock()
	return k, k.refresh(ctx)
}

// refresh reads the facts about gaps again and updates the alarms. The caller holds
// mu.
func (k *Keeper) refresh(ctx context.Context) error {
	facts, err := eventlog.GapFacts(ctx, k.cfg.Log)
	if err != nil {
		return err
	}
	k.facts = facts
	k.updateAlarms()
	return nil
}

// locate names the files that held a stretch of the log, "" when unknown.
func (k *Keeper) locate(from, to uint64) string {
	if k.cfg.Folder == "" {
		return ""
	}
	files, err := logfiles.Open(k.cfg.Folder, k.cfg.Log.Stream)
	if err != nil {
		return ""
	}
	return files.Locate(from, to)
}

// ErrStopped says that folding waits for an operator's decision about a gap.
var ErrStopped = errors.New("folding waits for a decision about a gap of the log: errata log accept goes on without it, errata log repair brings it back")

// Pass says whether a projector may continue after a gap, nil for yes. It notes the
// gap on the log if nothing there decides about it. Errors: ErrStopped; log_full,
// log_unavailable.
func (k *Keeper) Pass(ctx context.Context, from, to uint64, why string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if decided(k.facts, from, to, k.cfg.Policy) {
		return nil
	}
	// Another node, or an operator, may have decided.
	if err := k.refresh(ctx); err != nil {
		return err
	}
	if decided(k.facts, from, to, k.cfg.Policy) {
		k.stopped = nil
		k.updateAlarms()
		return nil
	}
	// Facts that were purged while the projector read the log are no gap.
	if purged, err := eventlog.Purged(ctx, k.cfg.Log, to); err != nil || purged {
		return err
	}
	gap, err := k.note(ctx, from, to, why)
	if err != nil {
		return err
	}
	if k.cfg.Policy == Stop {
		k.stopped = &gap
		k.updateAlarms()
		return fmt.Errorf("%v: %w", gap, ErrStopped)
	}
	return nil
}

// decided says whether folding may continue after a gap: an operator has accepted
// it, or the policy is Accept and the gap is noted on the log.
func decided(facts []eventlog.GapFact, from, to uint64, policy Policy) bool {
	return eventlog.Covered(from, to, facts, func(f eventlog.GapFact) bool {
		return f.By != eventlog.GapByPolicy || policy == Accept
	})
}

// note puts a gap on the log by the policy, unless it is noted there. The caller
// holds mu.
func (k *Keeper) note(ctx context.Context, from, to uint64, why string) (eventlog.Gap, error) {
	gap := eventlog.Gap{From: from, To: to, Why: why, By: eventlog.GapByPolicy, Files: k.locate(from, to)}
	var err error
	if gap.Events, err = eventlog.EstimateGap(ctx, k.cfg.Log, from, to); err != nil {
		return gap, err
	}
	if eventlog.Covered(from, to, k.facts, func(eventlog.GapFact) bool { return true }) {
		return gap, nil
	}
	k.cfg.Logger.Error("facts of the log are gone", "from", from, "to", to, "why", why,
		"events_at_least", gap.Events.Least, "events_at_most", gap.Events.Most, "files", gap.Files)
	k.metrics.facts.Add(float64(gap.Facts()))
	ctx = errata.WithActor(ctx, errata.Actor{KeyID: errata.ActorService})
	if _, err := eventlog.AppendGap(ctx, k.cfg.Log, gap); err != nil {
		return gap, err
	}
	return gap, k.refresh(ctx)
}

// Older notes on the log that its end has lost facts which the records hold. It is
// called before and after their places are filled, and appends a fact each time:
// the first one has a sequence that the projectors have passed already.
func (k *Keeper) Older(ctx context.Context, from, to uint64) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	gap := eventlog.Gap{From: from, To: to, Why: eventlog.GapOlder, By: eventlog.GapByPolicy}
	known := eventlog.Covered(from, to, k.facts, func(f eventlog.GapFact) bool { return f.Why == eventlog.GapOlder })
	if known {
		gap.Events = k.facts[len(k.facts)-1].Events
	} else {
		var err error
		if gap.Events, err = eventlog.EstimateGap(ctx, k.cfg.Log, from, to); err != nil {
			return err
		}
		k.metrics.facts.Add(float64(gap.Facts()))
	}
	ctx = errata.WithActor(ctx, errata.Actor{KeyID: errata.ActorService})
	if _, err := eventlog.AppendGapAgain(ctx, k.cfg.Log, gap); err != nil {
		return err
	}
	return k.refresh(ctx)
}

// Settle accepts all open gaps in the name of an operator and of
// [errata.ActorOf](ctx), and returns them. Kinds: log_full, log_unavailable.
func (k *Keeper) Settle(ctx context.Context, name string) ([]Gap, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.refresh(ctx); err != nil {
		return nil, err
	}
	var settled []eventlog.Gap
	for _, gap := range eventlog.OpenGaps(k.facts) {
		gap.By, gap.Name = eventlog.GapByOperator, name
		if _, err := eventlog.AppendGap(ctx, k.cfg.Log, gap); err != nil {
			return nil, err
		}
		settled = append(settled, gap)
	}
	k.stopped = nil
	return Gaps(settled), k.refresh(ctx)
}

// Replayed closes gaps after a replay: the records now hold what the log holds.
// Facts that only the records had are not in them any more, and facts that came
// back are.
func (k *Keeper) Replayed(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.refresh(ctx); err != nil {
		return err
	}
	again := append([]eventlog.Gap{}, k.healed...)
	for _, gap := range eventlog.OpenGaps(k.facts) {
		if gap.Why == eventlog.GapOlder {
			again = append(again, gap)
		}
	}
	for _, gap := range again {
		gap.By, gap.Name = eventlog.GapClosed, ""
		if _, err := eventlog.AppendGap(ctx, k.cfg.Log, gap); err != nil {
			return err
		}
	}
	k.healed = nil
	return k.refresh(ctx)
}

// State returns the gaps of the log, as far as they are known.
func (k *Keeper) State() State {
	k.mu.Lock()
	defer k.mu.Unlock()
	state := State{
		Policy: k.cfg.Policy, Open: Gaps(eventlog.OpenGaps(k.facts)), Settled: Gaps(eventlog.SettledGaps(k.facts)), Back: Gaps(k.healed),
	}
	if looked := k.looked; !looked.IsZero() {
		state.Looked = &looked
	}
	return state
}

// Undecided is an error that names the first open gap, nil when there is none.
func (k *Keeper) Undecided() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if open := eventlog.OpenGaps(k.facts); len(open) > 0 {
		return fmt.Errorf("%v is open: errata log accept, or errata log repair, comes first", open[0])
	}
	return nil
}
