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
	// lookPause is how often everything is asked.
	lookPause = time.Minute
	// lookBytes is how much of the tables is read in a look: what is small is
	// read whole each minute, and a part that is larger waits until so many
	// looks have saved up for it.
	lookBytes = 256 << 20
	// suspectPause is between looks that somebody else's trouble asked for.
	suspectPause = 2 * time.Second
	// holdPatience is how long merges wait for a first look that fails. Without
	// merges about ten parts a second are added.
	holdPatience = time.Minute
	// settled is how long the kernel may take to write what nobody syncs: what
	// was read whole so long after it was written was read from the disk, or
	// will be on it.
	settled = 5 * time.Minute
)

// Alarms is the board that somebody reads.
type Alarms interface {
	Raise(name, detail, hint string)
	Clear(name string)
}

// Config says what is checked and who mends.
type Config struct {
	// ClickHouse may read, check and alter the tables.
	ClickHouse driver.Conn
	Projector  *projector.Projector
	Log        eventlog.Log
	Alarms     Alarms
	// Rebuild makes the records again from the log beside the live tables, which
	// are not to be trusted, and puts them in their place. It tells how far it
	// is, in facts.
	Rebuild func(ctx context.Context, progress func(done, target uint64)) error
	// Undecided says what of the log is gone that nobody has decided about, nil
	// for nothing: the records may be the only place where it still is, so that
	// they are neither taken back nor made again before. May be nil.
	Undecided func() error
	// Sole says that nobody else writes these tables.
	Sole bool
	// Mark is the path of a file of the data folder, "" for none: then a start
	// looks at every part.
	Mark string
	// Patience is how long a part may take to be read beyond what its size says,
	// while ClickHouse answers others; 0 for 20 s.
	Patience time.Duration

	Logger     *slog.Logger
	Registerer prometheus.Registerer // nil for none
	Now        func() time.Time
}

// Checker asks every minute whether the tables are whole. It is safe for
// concurrent use.
type Checker struct {
	cfg     Config
	metrics *metrics
	wake    atomic.Bool // look now
	doubt   atomic.Bool // rows alone are to be read
	work    background.Runner

	looking sync.Mutex // one look at a time; guards what follows
	mark    mark
	seen    map[string]time.Time // by part, when it was last found whole
	broken  map[string]bool      // by part, those that were last found not to be
	saved   uint64               // bytes that may be read
	full    bool                 // the next reading is of every part
	tried   map[string]int       // mends that failed, by what was to be mended
	rest    time.Time            // no mend before
	// released says that merges which were held at the start go on; see [Hold].
	released bool
	began    time.Time
	lost     bool // the log does not reach what is damaged
	withheld bool // the log lacks what nobody has decided about
	// lostBefore is the first fact that was left when all before it was lost, 0
	// for never.
	lostBefore uint64
	stretch    stretch

	mu   sync.Mutex
	last Result
}

// Result is what the last look found.
type Result struct {
	At   time.Time
	Took time.Duration
	// Parts and Bytes are those that were read in it, of Of parts.
	Parts, Of int
	Bytes     uint64
	// Records and Events are those that the checkpoint says, and the table too
	// unless there is damage.
	Records, Events uint64
	Damage          []Damage
	// Mended is the last mend, of this run or one before.
	Mended Mend
	// Good is when a look last came to something.
	Good time.Time
	// Err says why the look came to nothing, nil when it did not.
	Err error
}

// New reads what the last run left. Start begins.
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
	if cfg.Patience == 0 {
		cfg.Patience = hangPatience
	}
	m, err := readMark(cfg.Mark)
	if err != nil {
		return nil, err
	}
	return &Checker{
		cfg: cfg, began: cfg.Now(), metrics: newMetrics(cfg.Registerer),
		mark: m, seen: map[string]time.Time{}, broken: map[string]bool{}, saved: lookBytes, tried: map[string]int{},
	}, nil
}

// Start begins to look, at once and then every minute; a second call does nothing.
func (c *Checker) Start() {
	var looked time.Time
	c.work.Start(background.Loop{Every: suspectPause, Do: func(ctx context.Context) error {
		if !looked.IsZero() && c.cfg.Now().Sub(looked) < lookPause && !c.unrest() {
			return nil
		}
		err := c.Look(ctx)
		looked = c.cfg.Now()
		return err
	}, Failed: background.Tell(c.cfg.Logger.Warn, "the self-check came to nothing, trying again")}.Run)
}

// stopPatience is how much of a stop a question to a ClickHouse that does not
// answer may take.
const stopPatience = time.Second

// Stop ends the looks, and a mend under way: the next start begins it again. Before
// that it calls the function that ends whatever may still call Start. It leaves a
// ClickHouse that does not answer within a second alone.
func (c *Checker) Stop(ctx context.Context, endStarting func(context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	err := endStarting(ctx)
	if err == nil {
		err = c.work.Stop(ctx)
	}
	if err != nil {
		c.cfg.Logger.Warn("the self-check is left to ClickHouse, which does not answer", "error", err)
	}
}

// Stopped notes a clean stop, once nobody writes the tables any more.
func (c *Checker) Stopped() error {
	if !c.looking.TryLock() {
		return nil // it has not ended, so that nobody knows
	}
	defer c.looking.Unlock()
	if last := c.Last(); c.doubt.Load() || len(last.Damage) > 0 || last.Good.IsZero() {
		return nil // the next start is to look at everything that this one would
	}
	c.mark.Sound = c.cfg.Now()
	return c.mark.write(c.cfg.Mark)
}

// unrest says that there is a reason to look before the minute is over: there is
// something to be mended, somebody has met damage, or the projector is at a loss.
func (c *Checker) unrest() bool {
	woken := c.wake.Swap(false)
	if len(c.Last().Damage) > 0 { // what is known need not be looked for
		return !c.cfg.Now().Before(c.resting())
	}
	return woken || atALoss(c.cfg.Projector.Status().Err)
}

func (c *Checker) resting() time.Time {
	c.looking.Lock()
	defer c.looking.Unlock()
	return c.rest
}

// atALoss says that the projector cannot go on with its tables.
func atALoss(err error) bool {
	return errors.Is(err, projector.ErrHistoryLost) || errors.Is(err, eventlog.ErrLogPurged)
}

// Primary says that only the rows themselves are to be read, without projections
// and skip indexes.
func (c *Checker) Primary() bool { return c.doubt.Load() }

// Suspect is told that a query has met damage: rows alone are read from now on,
// and it is looked for at once.
func (c *Checker) Suspect(err error) {
	if !c.doubt.Swap(true) {
		c.cfg.Logger.Error("a query met a damaged file of ClickHouse; lists read the rows alone now", "error", err)
	}
	c.wake.Store(true)
}

// Last is what the last look found.
func (c *Checker) Last() Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// Look asks everything once, and mends what it can.
func (c *Checker) Look(ctx context.Context) error {
	c.looking.Lock()
	defer c.looking.Unlock()
	result := c.look(ctx)
	if result.Err == nil && len(result.Damage) > 0 {
		c.report(result, "")
		if c.mend(ctx, result) {
			result = c.look(ctx) // what it says now is the truth
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !c.released && c.cfg.Sole && (result.Err == nil || c.cfg.Now().Sub(c.began) > holdPatience) {
		// Also when the damage could not be repaired: without merges parts pile up.
		c.released = c.exec(ctx, "SYSTEM START MERGES records", nil) == nil
	}
	c.report(result, "")
	return result.Err
}

// report puts the result where people look.
func (c *Checker) report(r Result, doing string) {
	c.mu.Lock()
	if r.Err != nil && len(r.Damage) == 0 {
		r.Damage = c.last.Damage // nobody knows better
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
			c.cfg.Alarms.Raise(alarm, fmt.Sprintf("the tables were lost, and what the log held before fact %d with them", c.lostBefore),
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
