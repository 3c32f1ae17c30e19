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
	"golang.org/x/sync/semaphore"

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
	// Quiet is for a rebuild beside the live projection: the projector announces
	// nothing, takes no snapshots and merges no tables.
	Quiet bool
	// Own says that ClickHouse is a process of this service. Then merges may wait: they go on
	// when it ends.
	Own bool
	// Elsewhere says that another node has the records of what was purged from the log
	// before it was folded here. Without it, such facts count as lost.
	Elsewhere bool
	// Gaps decides about gaps of the log. With nil, for tests, all are passed.
	Gaps Gaps
	// WindowFolder is the folder for the event ids that the next start needs, so that it does
	// not read them from the log again; "" for none. No other projector may use it.
	WindowFolder string
	// SpillFolder is the folder for a file, of at most spillBytes, with the records for which
	// memory has no room; "" for none: then they are read from ClickHouse again.
	SpillFolder string
}

// Gaps decides about gaps of the log.
type Gaps interface {
	// Pass is called for each gap that a projector meets, once in each session. An
	// unreadable block is a gap of one fact. Folding continues when Pass returns
	// nil. Several projectors may report the same gap, also at the same time.
	Pass(ctx context.Context, from, to uint64, why string) error
	// Older is called for facts that the records hold and that the end of the log
	// has lost, before and after their places are filled.
	Older(ctx context.Context, from, to uint64) error
}

// pauses are the pauses between sessions and between tries of an insert. They go on
// as long as ClickHouse is away: nothing is lost meanwhile, the log grows. A batch has four
// inserts, each with pauses of its own, and the last one that is tried again decides when new
// events are visible after a full disk: with pauses of 5 s that was up to 6 s later.
var pauses = background.Pauses{First: 50 * time.Millisecond, Most: 2 * time.Second}

// Errors of a session. After the first two an operator must decide: waiting does
// not help.
var (
	// ErrOtherLog: the projection was made from another log.
	ErrOtherLog = errors.New("the projection in ClickHouse was made from another log than this one; " +
		"use the data directory it belongs to, or an empty ClickHouse database")
	// ErrHistoryLost: the tables are empty although the log was purged, or with Elsewhere
	// end before it begins, so folding would silently begin in the middle. A rebuild begins with the tables of a
	// snapshot, which hold the earlier records.
	ErrHistoryLost = errors.New("the tables lack facts that the log does not hold any more")
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
	moved   broadcast     // after each new status
	front   atomic.Uint64 // the last fact of the newest batch that was begun to be written
	// When the log took the oldest fact of the open batch, of the one that is being prepared
	// and of the one whose records are being written, in Unix nanoseconds, 0 for none. They
	// are for the lag.
	open, preparing, writing atomic.Int64
	working                  atomic.Bool // see Status
	lossAccepted             atomic.Bool // see AcceptLoss
	catchUp                  *catchUp    // of all sessions of a rebuild; nil when each has its own

	work background.Runner
	held *semaphore.Weighted // by whoever has stopped the work for a while
}

// errNotLocated is the status before Locate, when the checkpoint is not known yet.
var errNotLocated = errors.New("the checkpoint of the records is not known yet")

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

// NewUnlocated makes a projector and does not ask ClickHouse, which may be away.
// [Projector.Locate] must succeed before Start.
func NewUnlocated(cfg Config) (*Projector, error) {
	if cfg.ClickHouse == nil {
		return nil, errors.New("projector: ClickHouse is required")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	p := &Projector{cfg: cfg, store: NewStore(cfg.ClickHouse, cfg.Shard), held: semaphore.NewWeighted(1)}
	p.metrics = newMetrics(cfg.Registerer, func() float64 { return p.lag().Seconds() })
	if !cfg.Quiet {
		p.tidier = newTidier(p.store, cfg.Logger, p.metrics)
	}
	p.tell(Status{Err: errNotLocated})
	return p, nil
}

// Locate checks that the projection belongs to the log. It fills a log that ends
// before the checkpoint, so that no sequence is used twice, and reports the lost
// facts to cfg.Gaps. It may be called again after an error. Errors: ErrOtherLog.
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
	p.tell(Status{Checkpoint: cp})
	return nil
}

// fill fills a log that has lost facts which the records hold.
func (p *Projector) fill(ctx context.Context, from, to uint64) error {
	p.cfg.Logger.Warn("log is shorter than the projection, filling it up", "log", from-1, "checkpoint", to)
	return Fill(ctx, p.cfg.Log, p.cfg.Gaps, from, to)
}

// Fill appends empty facts to a log that has lost its end, from one sequence to the
// other. gaps, which may be nil, notes the gap on the log twice: first before the
// empty facts, so that a crash in between forgets nothing, then after them, where
// every projector that follows the log reads it.
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

// pass asks cfg.Gaps whether folding continues after a gap.
func (p *Projector) pass(ctx context.Context, from, to uint64, why string) error {
	if p.cfg.Gaps == nil {
		return nil
	}
	return p.cfg.Gaps.Pass(ctx, from, to, why)
}

// position reads the checkpoint and the state of the log and checks that they
// belong together. Errors: ErrOtherLog.
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

// FoldTo folds up to the fact with the sequence, and returns when the fact is in
// the records. It must not be called while the projector is started.
func (p *Projector) FoldTo(ctx context.Context, sequence uint64) error {
	tell := background.Tell(p.cfg.Logger.Warn, "folding starts over")
	for tries, row := pauses.Begin(), 1; ; row++ {
		err := p.session(ctx, sequence)
		switch {
		case errors.Is(err, errUntil):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, ErrOtherLog), errors.Is(err, ErrHistoryLost), errors.Is(err, eventlog.ErrNewer):
			return err
		}
		p.failed(err)
		tell(err, row)
		if !tries.Wait(ctx) {
			return ctx.Err()
		}
	}
}

// Start begins to fold in the background, and to merge each table into one part
// when that pays. A second call does nothing.
func (p *Projector) Start() {
	parts := []func(context.Context){p.run}
	if p.tidier != nil {
		parts = append(parts, p.tidier.run)
	}
	p.work.Start(parts...)
}

// Stop ends the folding; it may be called twice. Facts that were folded and not
// committed are folded again after the next Start. Stop does not wait for a running
// merge, which ClickHouse finishes by itself. The error is that of ctx.
func (p *Projector) Stop(ctx context.Context) error { return p.work.Stop(ctx) }

// Hold calls do while nothing is folded and no other Hold, rebuild or rewind has
// stopped the projector. folded is the last fact in the tables.
func (p *Projector) Hold(ctx context.Context, do func(folded uint64) error) error {
	goOn, err := p.hold(ctx)
	if err != nil {
		return err
	}
	defer goOn()
	folded, err := p.store.Sequence(ctx)
	if err != nil {
		return err
	}
	return do(folded)
}

// hold stops the folding until goOn is called. One at a time holds it: a second one
// would start the projector again too early.
func (p *Projector) hold(ctx context.Context) (goOn func(), err error) {
	if err := p.held.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	running := p.work.Started()
	// A Stop that is broken off would leave a projector that nobody starts again.
	if err := p.Stop(context.WithoutCancel(ctx)); err != nil {
		p.held.Release(1)
		return nil, err
	}
	return func() {
		if running {
			p.Start()
		}
		p.held.Release(1)
	}, nil
}

// AcceptLoss allows to fill empty tables from a purged log: the earlier records are
// lost for good. Without it, that is ErrHistoryLost.
func (p *Projector) AcceptLoss() { p.lossAccepted.Store(true) }

// beginCatchUp is the catch-up of a session.
func (p *Projector) beginCatchUp() *catchUp {
	if p.catchUp != nil {
		return p.catchUp
	}
	c := &catchUp{}
	if p.cfg.Own {
		c.merges = p.store.Merges()
	}
	return c
}

// Store returns the store that the projector writes. It implements
// [eventlog.Answers].
func (p *Projector) Store() *Store { return p.store }

// run runs one session after another until ctx ends.
func (p *Projector) run(ctx context.Context) {
	tell := background.Tell(p.cfg.Logger.Error, "projector starts over")
	background.Loop{
		Do: func(ctx context.Context) error { return p.session(ctx, 0) }, Pauses: pauses,
		Reached: func() any { return p.Status().Checkpoint.Row },
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
