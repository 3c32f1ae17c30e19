package watchdog

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// world is a log as the watchdog sees it.
type world struct {
	now       time.Time
	stopped   string
	silence   time.Time // since when no append is answered, zero for never
	busy      bool      // appends are tried
	asked     time.Time // the last one
	room      error
	restarts  int
	heals     bool // whether a restart does
	restarted error
	alarm     string // "" for none
	hint      string
}

func (w *world) Raise(name, detail, hint string) { w.alarm, w.hint = name+": "+detail, hint }
func (w *world) Clear(name string)               { w.alarm = strings.TrimPrefix(name, Alarm) }

func (w *world) watchdog(t *testing.T) *Watchdog {
	t.Helper()
	d, err := New(Config{
		Stopped: func() string { return w.stopped }, Silent: w.silent, TestRoom: func() error { return w.room },
		Restart: func(context.Context) error {
			w.restarts++
			if w.heals && w.restarted == nil {
				w.stopped, w.silence = "", time.Time{}
			}
			return w.restarted
		},
		Alarms: w, Now: func() time.Time { return w.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (w *world) silent() (first, last time.Time, why error) {
	if w.silence.IsZero() {
		return first, last, nil
	}
	if w.busy {
		w.asked = w.now
	}
	return w.silence, w.asked, errors.New("no answer in time")
}

// pass checks the log every second for so long.
func (w *world) pass(t *testing.T, d *Watchdog, seconds int) {
	t.Helper()
	for range seconds {
		d.look(t.Context())
		w.now = w.now.Add(time.Second)
	}
}

func TestALogThatStoppedIsRestartedOnceThereIsRoom(t *testing.T) {
	w := &world{now: time.Unix(1e9, 0), heals: true}
	d := w.watchdog(t)
	w.pass(t, d, 100)
	if w.restarts != 0 || w.alarm != "" {
		t.Fatalf("a log that works: %+v", w)
	}
	w.stopped, w.room = "critical write error", errors.New("no space left on device")
	w.pass(t, d, 100)
	if w.restarts != 0 || !strings.Contains(w.alarm, "no space left on device") || !strings.Contains(w.hint, "make room") {
		t.Fatalf("a full disk: %+v", w)
	}
	w.room = nil
	w.pass(t, d, 2)
	if w.restarts != 1 || w.alarm != "" {
		t.Fatalf("a disk with room again: %+v", w)
	}
}

// A restart that does not help is tried again, after a pause.
func TestARestartIsTriedAgain(t *testing.T) {
	w := &world{now: time.Unix(1e9, 0), stopped: "critical write error", restarted: errors.New("busy")}
	d := w.watchdog(t)
	w.pass(t, d, 30)
	if w.restarts < 5 || w.restarts > 10 || !strings.Contains(w.alarm, "busy") {
		t.Fatalf("%+v", w)
	}
	w.restarted, w.heals = nil, true
	if w.pass(t, d, 5); w.stopped != "" || w.alarm != "" {
		t.Fatalf("%+v", w)
	}
}

// A log that answers no append for long is stopped too. It is not when it answers
// some, or when there was only one append.
func TestAppendsThatAreNotAnswered(t *testing.T) {
	w := &world{now: time.Unix(1e9, 0), heals: true, busy: true}
	d := w.watchdog(t)
	for range 10 {
		w.silence = w.now
		w.pass(t, d, int(silenceLasts/time.Second)-1)
		w.silence = time.Time{}
		w.pass(t, d, 1)
	}
	w.silence, w.asked, w.busy = w.now, w.now, false
	w.pass(t, d, 600)
	if w.restarts != 0 || w.alarm != "" {
		t.Fatalf("a slow log: %+v", w)
	}
	w.silence, w.busy, w.heals = w.now, true, false
	w.pass(t, d, int(silenceLasts/time.Second)+2)
	if w.restarts != 1 {
		t.Fatalf("a log that answers nothing: %+v", w)
	}
	// Nobody appends any more: nobody knows whether the restart helped, and there
	// is no other.
	w.busy = false
	w.pass(t, d, 600)
	if w.restarts != 1 || w.alarm != "" {
		t.Fatalf("a log that nobody asks: %+v", w)
	}
}
