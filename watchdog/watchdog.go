// Package watchdog restarts the log after its disk was full or failed for a while.
// JetStream stops a stream, or all of them, at the first write that fails, and they
// stay stopped when the disk works again. Only a restart of the server on the same
// files starts them.
//
//	the log is stopped ─▶ alarm ─▶ the disk can be written again ─▶ restart ─▶ alarm ends
//
// A restart loses nothing that was confirmed: every confirmation comes after an
// fsync, and a sender without a confirmation sends again under the same id.
//
// The package must not know what the log is. It must never restart a log that
// works, however slow it is.
package watchdog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/internal/background"
)

// Alarm is the name of the alarm that lasts while the log is stopped.
const Alarm = "log-stopped"

const (
	// look is how often the log is checked. Together with restartAgain and the
	// restart itself it is less than the 10 s within which a log comes back.
	look = time.Second
	// silenceLasts is how long all appends must go unanswered before the log counts
	// as stopped although the server does not say so. A log that is only slow
	// answers some of them.
	silenceLasts = 20 * time.Second
	// restartAgain is the least pause between two restarts.
	restartAgain = 3 * time.Second
	// restartTimeout bounds one restart; the server checks a large log for a while.
	restartTimeout = 2 * time.Minute
)

// Config says what is watched. Everything but Logger and Registerer is required.
type Config struct {
	// Stopped returns why the log needs a restart, "" when it does not.
	Stopped func() string
	// Silent returns when the first and the last of the appends without an answer
	// failed, and why; why is nil when an append has been answered since.
	Silent func() (first, last time.Time, why error)
	// TestRoom writes something to the disk of the log and returns the error.
	TestRoom func() error
	// Restart restarts the log. It may be called again after an error.
	Restart func(ctx context.Context) error
	Alarms  Alarms
	Now     func() time.Time
	Logger  *slog.Logger
	// Registerer receives the metrics; nil for none.
	Registerer prometheus.Registerer
}

// Alarms shows alarms to the operator.
type Alarms interface {
	Raise(name, detail, hint string)
	Clear(name string)
}

// Watchdog watches one log.
type Watchdog struct {
	cfg      Config
	restarts prometheus.Counter

	work background.Runner

	// What follows is used by one goroutine.
	alarmed   bool
	restarted time.Time // last
}

// New checks cfg; an error names what it lacks. Start begins to watch.
func New(cfg Config) (*Watchdog, error) {
	if cfg.Stopped == nil || cfg.Silent == nil || cfg.TestRoom == nil || cfg.Restart == nil || cfg.Alarms == nil || cfg.Now == nil {
		return nil, errors.New("watchdog: Stopped, Silent, TestRoom, Restart, Alarms and Now are required")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	w := &Watchdog{cfg: cfg, restarts: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "errata_log_restarts_total", Help: "Restarts of the embedded NATS because it had stopped taking messages.",
	})}
	if cfg.Registerer != nil {
		if err := cfg.Registerer.Register(w.restarts); err != nil {
			return nil, fmt.Errorf("register metrics of the watchdog: %w", err)
		}
	}
	return w, nil
}

// Start begins to watch; a second call does nothing.
func (w *Watchdog) Start() {
	w.work.Start(background.Loop{Do: func(ctx context.Context) error { w.look(ctx); return nil }, Every: look}.Run)
}

// Stop ends watching. It waits until a running restart has ended.
func (w *Watchdog) Stop() { _ = w.work.Stop(context.Background()) }

// look checks the log once, and restarts it when that can help.
func (w *Watchdog) look(ctx context.Context) {
	why := w.stopped()
	if why == "" {
		if w.alarmed {
			w.alarmed = false
			w.cfg.Alarms.Clear(Alarm)
		}
		return
	}
	if err := w.cfg.TestRoom(); err != nil {
		w.alarm(why+"; nothing can be written there: "+err.Error(), "events are refused; make room on the disk, and the log comes back by itself within 10 s")
		return
	}
	now := w.cfg.Now()
	if now.Sub(w.restarted) < restartAgain {
		return
	}
	w.alarm(why, "events are refused; the log is being restarted")
	w.cfg.Logger.Warn("the log takes nothing although its disk can be written; its server is restarted", "why", why)
	w.restarts.Inc()
	ctx, cancel := context.WithTimeout(ctx, restartTimeout)
	defer cancel()
	err := w.cfg.Restart(ctx)
	w.restarted = w.cfg.Now()
	if err != nil {
		w.alarm(why+"; its restart failed: "+err.Error(), "events are refused; it is tried again every few seconds; see the log of the service")
		return
	}
	w.cfg.Logger.Info("the log was restarted", "took", w.cfg.Now().Sub(now))
}

// stopped returns why the log takes nothing, "" while it takes events.
func (w *Watchdog) stopped() string {
	if why := w.cfg.Stopped(); why != "" {
		return why
	}
	first, last, err := w.cfg.Silent()
	if first.Before(w.restarted) {
		first = w.restarted
	}
	if lasts := last.Sub(first); err != nil && lasts >= silenceLasts {
		return fmt.Sprintf("the log has confirmed nothing for %v: %v", lasts.Round(time.Second), err)
	}
	return ""
}

func (w *Watchdog) alarm(detail, hint string) {
	w.alarmed = true
	w.cfg.Alarms.Raise(Alarm, detail, hint)
}
