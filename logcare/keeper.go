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

// Policy says what becomes of a gap before anybody has looked at it.
type Policy string

// The policies.
const (
	// Accept goes on behind the gap at once.
	Accept Policy = "accept"
	// Stop shows nothing new until an operator has accepted the gap.
	Stop Policy = "stop"
)

// ParsePolicy reads the name of a policy; none is Accept.
func ParsePolicy(text string) (Policy, error) {
	switch p := Policy(text); p {
	case "":
		return Accept, nil
	case Accept, Stop:
		return p, nil
	}
	return "", fmt.Errorf("%q is not %s or %s", text, Accept, Stop)
}

// Alarms is where somebody is told.
type Alarms interface {
	Raise(name, detail, hint string)
	Clear(name string)
}

// Config is what a Keeper needs.
type Config struct {
	Log    eventlog.Log
	Policy Policy
	Alarms Alarms
	// Folder is that of the files of the embedded NATS, "" where they are out of
	// reach; Mended are those of any stream that were damaged at its start.
	Folder string
	Mended []logfiles.Mended
	// LazySync says that a power cut may take the end of the log.
	LazySync bool
	// Logger gets what the operator should know, nil for nothing.
	Logger *slog.Logger
	// Registerer receives the metrics; nil for none.
	Registerer prometheus.Registerer
}

// Keeper decides about gaps and looks for them. It is safe for concurrent use.
type Keeper struct {
	cfg     Config
	metrics *metrics

	mu    sync.Mutex // held over what is read from the log and appended to it
	facts []eventlog.GapFact
	// healed are the gaps whose facts are back, stopped is what the policy holds
	// folding at.
	healed  []eventlog.Gap
	stopped *eventlog.Gap
	looked  time.Time

	work background.Runner
}

// New reads what stands on the log about gaps. Start begins to look for them.
func New(ctx context.Context, cfg Config) (*Keeper, error) {
	if cfg.Alarms == nil || cfg.Log.JetStream == nil {
		return nil, errors.New("logcare: Log and Alarms are required")
	}
	cfg.Policy = cmp.Or(cfg.Policy, Accept)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	k := &Keeper{cfg: cfg, metrics: newMetrics(cfg.Registerer)}
	k.tellMended()
	k.mu.Lock()
	defer k.mu.Unlock()
	return k, k.refresh(ctx)
}

// refresh reads the facts anew and tells how things stand. mu is held.
func (k *Keeper) refresh(ctx context.Context) error {
	facts, err := eventlog.GapFacts(ctx, k.cfg.Log)
	if err != nil {
		return err
	}
	k.facts = facts
	k.tell()
	return nil
}

// locate names the files in which a stretch of the log stood, "" when unknown.
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

// Pass is told of a gap that a projector meets. It puts the policy's decision on
// the log where there is none. Errors: ErrStopped; log_full, log_unavailable.
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
		k.tell()
		return nil
	}
	// Nor is what was purged while somebody read it a gap.
	if purged, err := eventlog.Purged(ctx, k.cfg.Log, to); err != nil || purged {
		return err
	}
	gap, err := k.note(ctx, from, to, why)
	if err != nil {
		return err
	}
	if k.cfg.Policy == Stop {
		k.stopped = &gap
		k.tell()
		return fmt.Errorf("%v: %w", gap, ErrStopped)
	}
	return nil
}

// decided says whether folding may pass a gap: the policy lets it, and the log
// says so, or an operator has.
func decided(facts []eventlog.GapFact, from, to uint64, policy Policy) bool {
	return eventlog.Covered(from, to, facts, func(f eventlog.GapFact) bool {
		return f.By != eventlog.GapByPolicy || policy == Accept
	})
}

// note puts a gap on the log by the policy, unless it stands there. mu is held.
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

// Older is told of facts that the records hold and that the end of the log has
// lost, before and after their places are filled. It says so on the log, each
// time: the first may stand where nobody comes by any more.
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

// Settle accepts all gaps that nobody has decided about, in the name of an
// operator and of [errata.ActorOf](ctx), and returns them. Kinds: log_full,
// log_unavailable.
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

// Replayed is told that the records were made anew from the log as it is: what
// its end had lost is not in them any more, and what came back is.
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

// State is how the log stands, as far as is known.
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

// Undecided says which facts are gone that nobody has decided about, nil for none.
func (k *Keeper) Undecided() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if open := eventlog.OpenGaps(k.facts); len(open) > 0 {
		return fmt.Errorf("%v is open: errata log accept, or errata log repair, comes first", open[0])
	}
	return nil
}
