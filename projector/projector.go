package projector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/background"
)

// Config says which log is folded into which ClickHouse.
type Config struct {
	Log        eventlog.Log
	ClickHouse driver.Conn
	Shard      uint16
	Logger     *slog.Logger
	// Registerer receives the metrics; nil for none.
	Registerer prometheus.Registerer
	// Quiet makes a projector that nobody waits for: a rebuild beside the live
	// projection. It announces nothing, takes no snapshots and tidies nothing.
	Quiet bool
	// Gaps decides about facts of the log that are gone. nil passes over them
	// without a word, which is for tests and rebuilds.
	Gaps Gaps
}

// Gaps decides what becomes of facts of the log that are gone.
type Gaps interface {
	// Pass is told of each gap that a projector meets, once in each session, and
	// of a block that cannot be read, which is a gap of one fact. It returns nil
	// when folding goes on behind it. The same gap may be told many times, by
	// several projectors at once.
	Pass(ctx context.Context, from, to uint64, why string) error
	// Older is told of facts that the records hold and that the end of the log
	// has lost, before and after their places are filled.
	Older(ctx context.Context, from, to uint64) error
}

// pauses are those between sessions and between tries of an insert, for as long
// as ClickHouse is away: nothing is lost, the log grows.
var pauses = background.Pauses{First: 50 * time.Millisecond, Most: 5 * time.Second}

// Errors that no waiting heals; an operator must decide.
var (
	// ErrOtherLog: the projection was made from another log.
	ErrOtherLog = errors.New("the projection in ClickHouse was made from another log than this one; " +
		"use the data directory it belongs to, or an empty ClickHouse database")
	// ErrHistoryLost: the tables are empty although the log has been cut, so that
	// folding it would silently begin in the middle. The tables of a snapshot,
	// which a rebuild begins with, hold what stood before.
	ErrHistoryLost = errors.New("the tables are empty, and the log does not reach back to its first fact")
	// ErrRaceLost: another projector committed first. The session starts over.
	ErrRaceLost = errors.New("another projector moved the checkpoint")
)

// Projector keeps the projection of one shard up to date.
type Projector struct {
	cfg     Config
	store   *Store
	metrics *metrics
	tidier  *tidier // nil when Quiet
	status  atomic.Pointer[Status]
	// When the log took the oldest fact of the open batch and of the batch
	// being committed, in Unix nanoseconds, 0 for none. For the lag.
	open, committing atomic.Int64
	lossAccepted     atomic.Bool // see AcceptLoss

	work background.Runner
}

// Status is how a projector stands.
type Status struct {
	Checkpoint Checkpoint
	// Lag is how long the oldest fact that is not yet visible has waited, as
	// far as is known; 0 when everything is.
	Lag time.Duration
	// Err is why the projector does not get on, nil while it does.
	Err error
}

// errNotLocated is the status before Locate: nobody knows how far the records are.
var errNotLocated = errors.New("how far the records are is not known yet")

// New makes a projector and locates it. It must be called before anything is
// appended. Start begins the work.
func New(ctx context.Context, cfg Config) (*Projector, error) {
	p, err := NewUnlocated(cfg)
	if err != nil {
		return nil, err
	}
	if err := p.Locate(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// NewUnlocated makes a projector without a word to ClickHouse, which may be away.
// [Projector.Locate] must have succeeded before Start.
func NewUnlocated(cfg Config) (*Projector, error) {
	if cfg.ClickHouse == nil {
		return nil, errors.New("projector: ClickHouse is required")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	p := &Projector{cfg: cfg, store: NewStore(cfg.ClickHouse, cfg.Shard)}
	p.metrics = newMetrics(cfg.Registerer, func() float64 { return p.lag().Seconds() })
	if !cfg.Quiet {
		p.tidier = newTidier(p.store, cfg.Logger, p.metrics)
	}
	p.status.Store(&Status{Err: errNotLocated})
	return p, nil
}

// Locate checks that the projection belongs to the log and, where the log is
// shorter than the projection, fills it up so that no sequence is used twice:
// ingestion goes on, and cfg.Gaps is told what is missing. It may be called again
// after an error.
func (p *Projector) Locate(ctx context.Context) error {
	cp, log, err := p.position(ctx)
	if err != nil {
		return err
	}
	if log.Last < cp.Sequence {
		if err := p.fill(ctx, log.Last+1, cp.Sequence); err != nil {
			return err
		}
	}
	p.status.Store(&Status{Checkpoint: cp})
	return nil
}

// fill fills up a log that has lost facts which the records hold.
func (p *Projector) fill(ctx context.Context, from, to uint64) error {
	p.cfg.Logger.Warn("log is shorter than the projection, filling it up", "log", from-1, "checkpoint", to)
	return Fill(ctx, p.cfg.Log, p.cfg.Gaps, from, to)
}

// Fill puts facts without meaning where a log has lost its end, from one sequence
// to the other. gaps, nil for nobody, says on the log what they stand for: first
// of all, so that a crash on the way forgets nothing, and behind them, where all
// who follow the log come by.
func Fill(ctx context.Context, log eventlog.Log, gaps Gaps, from, to uint64) error {
	tell := func() error {
		if gaps == nil {
			return nil
		}
		return gaps.Older(ctx, from, to)
	}
	for _, step := range []func() error{tell, func() error { return eventlog.PadTo(ctx, log, to) }, tell} {
		if err := step(); err != nil {
			return fmt.Errorf("fill up the log to %d: %w", to, err)
		}
	}
	return nil
}

// pass asks whether folding goes on behind a gap.
func (p *Projector) pass(ctx context.Context, from, to uint64, why string) error {
	if p.cfg.Gaps == nil {
		return nil
	}
	return p.cfg.Gaps.Pass(ctx, from, to, why)
}

// position reads the checkpoint and the log's state and checks that they
// belong together.
func (p *Projector) position(ctx context.Context) (Checkpoint, eventlog.State, error) {
	cp, err := p.store.Checkpoint(ctx)
	if err != nil {
		return Checkpoint{}, eventlog.State{}, err
	}
	log, err := eventlog.Inspect(ctx, p.cfg.Log)
	if err != nil {
		return Checkpoint{}, eventlog.State{}, err
	}
	if cp.Row == 0 {
		return Checkpoint{Log: log.Created.UnixNano()}, log, nil
	}
	if cp.Log != log.Created.UnixNano() {
		return Checkpoint{}, eventlog.State{}, ErrOtherLog
	}
	return cp, log, nil
}

// FoldTo folds up to the fact with the sequence and returns when it is visible.
// It must not be called while the projector is started.
func (p *Projector) FoldTo(ctx context.Context, sequence uint64) error {
	tell := background.Tell(p.cfg.Logger.Warn, "folding starts over")
	for tries, row := pauses.Begin(), 1; ; row++ {
		err := p.session(ctx, sequence)
		switch {
		case errors.Is(err, errUntil):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, ErrOtherLog), errors.Is(err, ErrHistoryLost):
			return err
		}
		p.failed(err)
		tell(err, row)
		if !tries.Wait(ctx) {
			return ctx.Err()
		}
	}
}

// Start begins folding in the background, and merging the tables into one part
// each when that is worth it; a second call does nothing.
func (p *Projector) Start() {
	parts := []func(context.Context){p.run}
	if p.tidier != nil {
		parts = append(parts, p.tidier.run)
	}
	p.work.Start(parts...)
}

// Stop ends the folding. What was folded and not committed is folded again at
// the next Start: stopping needs no ceremony, and may be done twice. A merge
// that was begun is not waited for; ClickHouse finishes it by itself. The error
// is that of ctx.
func (p *Projector) Stop(ctx context.Context) error { return p.work.Stop(ctx) }

// AcceptLoss lets empty tables be filled from a log that has been cut: what
// stood before is nowhere any more. Until then that is ErrHistoryLost.
func (p *Projector) AcceptLoss() { p.lossAccepted.Store(true) }

// Store is the projection that the projector writes; it answers commanders.
func (p *Projector) Store() *Store { return p.store }

// Status is how the projector stands now.
func (p *Projector) Status() Status {
	s := *p.status.Load()
	s.Lag = p.lag()
	return s
}

// lag is how long the oldest fact that is not visible has waited.
func (p *Projector) lag() time.Duration {
	since := cmp.Or(p.committing.Load(), p.open.Load())
	if since == 0 {
		return 0
	}
	return max(0, time.Since(time.Unix(0, since)))
}

// run holds one session after another until ctx ends.
func (p *Projector) run(ctx context.Context) {
	tell := background.Tell(p.cfg.Logger.Error, "projector starts over")
	background.Loop{
		Do: func(ctx context.Context) error { return p.session(ctx, 0) }, Pauses: pauses,
		Reached: func() any { return p.Status().Checkpoint.Sequence },
		Failed: func(err error, row int) {
			p.failed(err)
			if errors.Is(err, ErrRaceLost) {
				p.cfg.Logger.Info("projector starts over", "reason", err)
			} else {
				tell(err, row)
			}
		},
	}.Run(ctx)
}

// failed notes why the projector does not get on.
func (p *Projector) failed(err error) {
	s := p.Status()
	s.Err = err
	p.status.Store(&s)
}
