package selfcheck

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/projector"
)

const (
	// lookPause is the time between two looks.
	lookPause = time.Minute
	// lookBytes is how much of the tables one look reads. Small tables are read
	// whole each minute. For a larger part several looks save their bytes up.
	lookBytes = 256 << 20
	// suspectPause is how often the checker asks whether it must look early.
	suspectPause = 2 * time.Second
	// holdPatience is how long merges wait for a first look that fails. Without
	// merges about ten parts a second are added.
	holdPatience = time.Minute
	// settled is how long the kernel may take to write data that nobody syncs.
	// A check that soon after the write proves nothing about the disk.
	settled = 5 * time.Minute
)

// Alarms shows alarms to the operator.
type Alarms interface {
	Raise(name, detail, hint string)
	Clear(name string)
}

// Config says what the checker reads and what it calls to mend damage.
type Config struct {
	// ClickHouse may read, check and alter the tables.
	ClickHouse driver.Conn
	Projector  *projector.Projector
	Log        eventlog.Log
	Alarms     Alarms
	// Rebuild makes the records again from the log beside the live tables, without
	// reading those, and puts the new tables in their place. progress gets the
	// number of folded facts, and the last one.
	Rebuild func(ctx context.Context, progress func(done, target uint64)) error
	// Undecided returns an error while the log has a gap that nobody has decided
	// about. The records may be the only place of those facts, so they are neither
	// taken back nor made again before the decision. May be nil.
	Undecided func() error
	// Sole says that no other node writes these tables.
	Sole bool
	// First holds merges until the first look has ended; nil: none are held.
	First *FirstLook
	// Take puts the tables of another node, which has the records of facts that the log does
	// not hold any more, in the place of these. nil: there is no other node, and such records
	// count as lost.
	Take func(ctx context.Context) error
	// Mark is the path of the mark, a file in the data folder. With "" there is
	// none, and each start reads every part.
	Mark string
	// Patience is how long reading a part may take beyond what its size allows,
	// while ClickHouse answers other queries; 0 for 20 s.
	Patience time.Duration

	Logger     *slog.Logger
	Registerer prometheus.Registerer // nil for none
	Now        func() time.Time
}

// Checker looks every minute whether the tables are whole. It is safe for
// concurrent use.
type Checker struct {
	cfg     Config
	metrics *metrics
	wake    atomic.Bool // look now, before the minute is over
	doubt   atomic.Bool // queries must read the rows alone
	work    background.Runner

	looking  sync.Mutex // one look at a time; guards the fields up to mu
	mark     mark
	seen     map[string]time.Time // by part, when it was last found whole
	broken   map[string]bool      // by part, true if the last check found damage
	saved    uint64               // bytes that this look may read, with those of earlier looks
	full     bool                 // the next look reads every part
	failed   int                  // mends since the last one that succeeded
	rest     time.Time            // no mend before this time
	began    time.Time
	lost     bool  // the log does not reach back to the damage
	withheld bool  // the log has a gap that nobody has decided about
	untaken  error // why the tables of another node were not taken
	// lostBefore is the first fact of the log when the tables were lost and
	// nothing could make the older records again; 0 for never.
	lostBefore uint64
	stretch    stretch

	mu   sync.Mutex
	last Result
}

// Result is what the last look found.
type Result struct {
	At   time.Time
	Took time.Duration
	// Parts and Bytes are how much the look read, of Of parts.
	Parts, Of int
	Bytes     uint64
	// Records and Events are the totals of the checkpoint. Without damage they are
	// those of the table too.
	Records, Events uint64
	Damage          []Damage
	// Mended is the last mend, also of an earlier run.
	Mended Mend
	// Good is the time of the last look without Err.
	Good time.Time
	// Err says why the look failed. Damage is no error.
	Err error
}

// New reads the mark of the last run. [Checker.Start] begins the looks. The error
// is that of reading the mark.
func New(cfg Config) (*Checker, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Undecided == nil {
		cfg.Undecided = func() error { return nil }
	}
	if cfg.First == nil {
		cfg.First = NewFirstLook(nil)
	}
	if cfg.Patience == 0 {
		cfg.Patience = hangPatience
	}
	m, err := readMark(cfg.Mark)
	if err != nil {
		return nil, err
	}
	return &Checker{
		cfg: cfg, began: cfg.Now(), metrics: newMetrics(cfg.Registerer),
		mark: m, seen: map[string]time.Time{}, broken: map[string]bool{}, saved: lookBytes,
	}, nil
}

// Start begins the looks: one at once and then one a minute. A second call does
// nothing.
func (c *Checker) Start() {
	var looked time.Time
	c.work.Start(background.Loop{Every: suspectPause, Do: func(ctx context.Context) error {
		if !looked.IsZero() && c.cfg.Now().Sub(looked) < lookPause && !c.unrest() {
			return nil
		}
		err := c.Look(ctx)
		looked = c.cfg.Now()
		return err
	}, Failed: background.Tell(c.cfg.Logger.Warn, "the self-check failed, trying again")}.Run)
}

// stopPatience is how long a stop waits for a ClickHouse that does not answer.
const stopPatience = time.Second

// Stop ends the looks, and a running mend, which the next start begins again. First
// it calls endStarting, which ends everything that may still call Start. If
// ClickHouse does not answer within a second, Stop logs that and returns.
func (c *Checker) Stop(ctx context.Context, endStarting func(context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	err := endStarting(ctx)
	if err == nil {
		err = c.work.Stop(ctx)
	}
	if err != nil {
		c.cfg.Logger.Warn("the self-check has not ended yet, because ClickHouse does not answer; stopping without it", "error", err)
	}
}

// Stopped notes a clean stop in the mark. Call it when nobody writes the tables any
// more. The error is that of writing the mark.
func (c *Checker) Stopped() error {
	if !c.looking.TryLock() {
		return nil // a look still runs, so its result is unknown
	}
	defer c.looking.Unlock()
	if last := c.Last(); c.doubt.Load() || len(last.Damage) > 0 || last.Good.IsZero() {
		return nil // the next start must read the parts that this run would have read
	}
	c.mark.Sound = c.cfg.Now()
	return c.mark.write(c.cfg.Mark)
}

// unrest reports whether to look before the minute is over: a mend is due, a query
// has met damage, or the projector cannot go on.
func (c *Checker) unrest() bool {
	woken := c.wake.Swap(false)
	if len(c.Last().Damage) > 0 { // the next mend looks too
		return !c.cfg.Now().Before(c.resting())
	}
	return woken || atALoss(c.cfg.Projector.Status().Err)
}

func (c *Checker) resting() time.Time {
	c.looking.Lock()
	defer c.looking.Unlock()
	return c.rest
}

// atALoss reports whether the projector cannot go on with its tables.
func atALoss(err error) bool {
	return errors.Is(err, projector.ErrHistoryLost) || errors.Is(err, eventlog.ErrLogPurged)
}

// Primary reports whether queries must read the rows alone, without ClickHouse
// projections and skip indexes.
func (c *Checker) Primary() bool { return c.doubt.Load() }

// Suspect is called with the error of a query that has met damage. From then on
// queries read the rows alone, and the checker looks at once.
func (c *Checker) Suspect(err error) {
	if !c.doubt.Swap(true) {
		c.cfg.Logger.Error("a query met a damaged file of ClickHouse; lists read the rows alone now", "error", err)
	}
	c.wake.Store(true)
}

// Last returns what the last look found.
func (c *Checker) Last() Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// Whole names damage that the last look found, nil for none.
func (c *Checker) Whole() error {
	if damage := c.Last().Damage; len(damage) > 0 {
		return fmt.Errorf("its own tables are damaged: %s", damage[0])
	}
	return nil
}

// Look looks once and mends what it can. The error says why the look failed.
func (c *Checker) Look(ctx context.Context) error {
	c.looking.Lock()
	defer c.looking.Unlock()
	result := c.look(ctx)
	if result.Err == nil && len(result.Damage) > 0 {
		c.report(result, "")
		if c.mend(ctx, result) {
			result = c.look(ctx) // with the result after the mend
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if result.Err == nil || c.cfg.Now().Sub(c.began) > holdPatience {
		// Also when the damage could not be repaired: without merges parts pile up.
		// The same for merges that ClickHouse did not start when they were let go.
		if err := errors.Join(c.cfg.First.end(ctx), c.merges().Tell(ctx)); err != nil {
			c.cfg.Logger.Warn("merges were not started, trying again after the next look", "error", err)
		}
	}
	c.report(result, "")
	return result.Err
}

func (c *Checker) merges() *projector.Merges { return c.cfg.Projector.Store().Merges() }

// report keeps the result for [Checker.Last] and raises or clears the alarms. doing
// is the hint of the alarms while a mend runs, "" otherwise.
func (c *Checker) report(r Result, doing string) {
	c.mu.Lock()
	if r.Err != nil && len(r.Damage) == 0 {
		r.Damage = c.last.Damage // a failed look says nothing about it
	}
	if r.Good = r.At; r.Err != nil {
		r.Good = c.last.Good
	}
	r.Mended = c.mark.Mended
	c.last = r
	c.mu.Unlock()
	if r.Err != nil {
		return
	}
	c.doubt.Store(slices.ContainsFunc(r.Damage, Damage.beside))
	for _, alarm := range []string{AlarmRecords, AlarmParts} {
		detail, n := "", 0
		for _, d := range r.Damage {
			if d.alarm() != alarm {
				continue
			}
			if n++; n == 1 {
				detail = d.String()
			}
		}
		switch {
		case n == 0 && alarm == AlarmRecords && c.lostBefore > 0:
			c.cfg.Alarms.Raise(alarm, fmt.Sprintf("the tables were lost, and with them the records of all facts before %d", c.lostBefore),
				"Restore the data folder from a backup, or restart the service to go on without them.")
			continue
		case n == 0:
			c.cfg.Alarms.Clear(alarm)
			continue
		case n > 1:
			detail += fmt.Sprintf(" (and %d more)", n-1)
		}
		hint := c.hint(r.Damage)
		if doing != "" {
			hint = doing
		}
		c.cfg.Alarms.Raise(alarm, detail, hint)
	}
}
