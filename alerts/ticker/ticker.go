// Package ticker says on the log how late it is, once a minute, while a rule of alerts looks
// for projects that are quiet. Any number of nodes may do so: the log takes one tick a
// minute. It must not decide anything.
package ticker

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/background"
)

const (
	// lookEvery is how often a ticker looks whether a minute has begun. A tick that the log
	// does not take is tried again then.
	lookEvery = 10 * time.Second
	// maxBreak is how many minutes may pass between two ticks of a service that was there all
	// the time: a restart takes less.
	maxBreak = 3
)

// Config is what a [Ticker] needs. All but Logger is required.
type Config struct {
	Log eventlog.Log
	// Alerts are the rules and channels in force. It never blocks.
	Alerts func() (alerts.Set, alerts.Channels)
	Now    func() time.Time
	Logger *slog.Logger
}

// Ticker puts ticks on the log.
type Ticker struct {
	cfg Config
	// since is the minute from which on this node has taken events, as far as it knows. told
	// is that of its last tick, 0 while no rule needs one.
	since, told int64
	work        background.Runner
}

// New checks the configuration.
func New(cfg Config) (*Ticker, error) {
	if cfg.Log.JetStream == nil || cfg.Log.NATS == nil || cfg.Alerts == nil || cfg.Now == nil {
		return nil, errors.New("ticker: every field is required")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	return &Ticker{cfg: cfg, since: minuteOf(cfg.Now())}, nil
}

func minuteOf(at time.Time) int64 { return at.Unix() / 60 }

// Start begins to tick. A second call does nothing.
func (t *Ticker) Start() {
	t.work.Start(background.Loop{
		Every: lookEvery, Do: t.tick,
		Failed: background.Tell(t.cfg.Logger.Warn, "the log takes no ticks; rules for quiet projects wait for one"),
	}.Run)
}

// Stop ends ticking. The error is that of ctx.
func (t *Ticker) Stop(ctx context.Context) error { return t.work.Stop(ctx) }

// tick puts a tick on the log when a minute has begun and a rule needs it.
func (t *Ticker) tick(ctx context.Context) error {
	rules, _ := t.cfg.Alerts()
	if !alerts.LookForQuiet(rules) {
		t.told = 0
		return nil
	}
	minute := minuteOf(t.cfg.Now())
	if minute == t.told {
		return nil
	}
	last, found, err := eventlog.LastTick(ctx, t.cfg.Log)
	if err != nil {
		return err
	}
	if t.told != 0 && minute-t.told > maxBreak {
		t.since = minute // the log was away, and took no events either
	}
	next := eventlog.Tick{Minute: minute, Since: min(t.since, minute)}
	if found && last.Minute >= t.since-maxBreak { // another node was there, or this one before a restart
		next.Since = min(next.Since, last.Since)
	}
	if !found || last.Minute != minute {
		if err := eventlog.AppendTick(ctx, t.cfg.Log, next); err != nil {
			return err
		}
	}
	t.told = minute
	return nil
}
