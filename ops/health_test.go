package ops

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
)

// wellness is the state of the parts of a service; in the zero value all are
// well.
type wellness struct {
	log        eventlog.State
	logErr     error
	appendErr  error
	records    error
	projection projector.Status
	alarms     []errata.Alarm
}

// healthOf is the health of a service whose parts are in the state w, which may
// change.
func healthOf(t *testing.T, w *wellness, now *time.Time) *Health {
	t.Helper()
	alarms, err := NewAlarms(nil, func() time.Time { return *now }, nil)
	if err != nil {
		t.Fatal(err)
	}
	log := NewLog(appending(func() error { return w.appendErr }),
		func(context.Context) (eventlog.State, error) { return w.log, w.logErr }, func() time.Time { return *now })
	projection := NewProjection(func() projector.Status { return w.projection }, log)
	return NewHealth(HealthConfig{
		Ready: []func(context.Context) error{
			func(ctx context.Context) error {
				for _, a := range w.alarms {
					alarms.Raise(a.Name, a.Detail, a.Hint)
				}
				_ = log.Append(ctx, nil) // only its effect on the health matters
				return nil
			},
			log.Ready, func(context.Context) error { return w.records }, projection.Ready,
		},
		Engines: func(context.Context) []errata.Check {
			return []errata.Check{{Name: "nats", OK: true, Detail: "embedded"}}
		},
		Checks: []func(context.Context) errata.Check{log.Check, projection.Check},
		Alarms: alarms,
	})
}

// appending is a log that answers as the test sets it.
type appending func() error

func (a appending) Append(context.Context, []errata.Event) error { return a() }

var errAway = errors.New("connection refused")

func TestReady(t *testing.T) {
	now := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	at := func(seq uint64) projector.Checkpoint { return projector.Checkpoint{Sequence: seq} }
	for _, c := range []struct {
		name string
		// before is how the service was when it was last asked, a minute ago.
		before, now wellness
		want        errata.Kind // "" for ready
	}{
		{"well", wellness{}, wellness{}, ""},
		{"log away", wellness{}, wellness{logErr: errAway}, errata.KindLogUnavailable},
		{"log full", wellness{}, wellness{log: eventlog.State{Bytes: 10, MaxBytes: 10}}, errata.KindLogFull},
		{"log without a limit", wellness{}, wellness{log: eventlog.State{Bytes: 10, MaxBytes: -1}}, ""},
		{"log answers and takes nothing", wellness{}, wellness{appendErr: errata.Errorf(errata.KindLogUnavailable, "x")}, errata.KindLogUnavailable},
		{"waits for ClickHouse since the start", wellness{}, wellness{records: errata.Errorf(errata.KindStoreUnavailable, "away")}, errata.KindStoreUnavailable},
		{"a little behind", wellness{}, wellness{projection: projector.Status{Lag: readyLag}}, ""},
		{"far behind and stuck", wellness{}, wellness{projection: projector.Status{Lag: readyLag + 1}}, errata.KindStoreUnavailable},
		{"far behind and getting on",
			wellness{projection: projector.Status{Checkpoint: at(7), Lag: time.Hour}},
			wellness{projection: projector.Status{Checkpoint: at(8), Lag: time.Hour}}, ""},
		{"a long command that gets on",
			wellness{projection: projector.Status{Checkpoint: projector.Checkpoint{Row: 3, Sequence: 7}, Lag: time.Hour}},
			wellness{projection: projector.Status{Checkpoint: projector.Checkpoint{Row: 4, Sequence: 7}, Lag: time.Hour}}, ""},
		{"a long statement of a command", wellness{}, wellness{projection: projector.Status{Lag: time.Hour, Working: true}}, ""},
		{"an alarm stands", wellness{}, wellness{alarms: []errata.Alarm{{Name: "log-gap"}}}, errata.KindDegraded},
		{"stuck with an error", wellness{}, wellness{projection: projector.Status{Err: errAway}}, errata.KindStoreUnavailable},
		{"an error, and getting on again",
			wellness{projection: projector.Status{Checkpoint: at(7)}},
			wellness{projection: projector.Status{Checkpoint: at(8), Err: errAway}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			state, clock := c.before, now.Add(-time.Minute)
			h := healthOf(t, &state, &clock)
			_ = h.Ready(t.Context()) // it is looked at
			state, clock = c.now, now
			err := h.Ready(t.Context())
			if c.want == "" {
				if err != nil {
					t.Errorf("got %v, want ready", err)
				}
				return
			}
			var told *errata.Error
			if !errors.As(err, &told) || told.Kind != c.want {
				t.Fatalf("got %v, want %s", err, c.want)
			}
			if strings.Contains(told.Message, errAway.Error()) {
				t.Errorf("tells strangers the cause: %s", told.Message)
			}
		})
	}
}

func TestReadyWhenItWasNeverAsked(t *testing.T) {
	now := time.Now()
	h := healthOf(t, &wellness{projection: projector.Status{Lag: time.Hour}}, &now)
	if err := h.Ready(t.Context()); err != nil {
		t.Errorf("catching up after a start: got %v, want ready", err)
	}
	now = now.Add(readyLag + time.Second)
	if err := h.Ready(t.Context()); errata.KindOf(err) != errata.KindStoreUnavailable {
		t.Errorf("still at the same place: got %v, want store_unavailable", err)
	}
}

func TestChecks(t *testing.T) {
	now := time.Now()
	const gib = 1 << 30
	for _, c := range []struct {
		name  string
		state wellness
		check string
		ok    bool
		parts []string
	}{
		{"engines are asked", wellness{}, "nats", true, []string{"embedded"}},
		{"log", wellness{log: eventlog.State{First: 1, Last: 9, Bytes: gib, MaxBytes: 10 * gib}}, "log", true, []string{"1 to 9"}},
		{"nearly full log", wellness{log: eventlog.State{Bytes: 10*gib - 1, MaxBytes: 10 * gib}}, "log", true, []string{"log-max-bytes"}},
		{"full log", wellness{log: eventlog.State{Bytes: 10 * gib, MaxBytes: 10 * gib}}, "log", false, []string{"log_full", "log-max-bytes"}},
		{"log away", wellness{logErr: errAway}, "log", false, []string{"refused"}},
		{"projector", wellness{log: eventlog.State{Last: 12}, projection: projector.Status{Checkpoint: projector.Checkpoint{Sequence: 9}, Lag: 250 * time.Millisecond}},
			"projector", true, []string{"fact 9", "250ms", "3 facts to go"}},
		{"alarm", wellness{alarms: []errata.Alarm{{Name: "log-gap", Detail: "facts 3 to 4 cannot be read", Hint: "errata log verify"}}},
			"log-gap", false, []string{"facts 3 to 4", "errata log verify"}},
		{"records of an older version", wellness{projection: projector.Status{Checkpoint: projector.Checkpoint{Row: 9, Sequence: 9}}},
			"projector", true, []string{"older version", "errata replay"}},
		{"projector in trouble", wellness{projection: projector.Status{Err: errAway}}, "projector", true, []string{"refused"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := healthOf(t, &c.state, &now)
			_ = h.Ready(t.Context()) // raises the alarms
			var found errata.Check
			status, all := h.Status(t.Context()), true
			for _, check := range status.Checks {
				all = all && check.OK
				if check.Name == c.check {
					found = check
				}
				if !check.OK && check.Hint == "" {
					t.Errorf("%s: failed without a word on what to do", check.Name)
				}
			}
			if found.OK != c.ok || status.OK != all {
				t.Errorf("got %+v, want ok %v; all in all %v", found, c.ok, status.OK)
			}
			for _, part := range c.parts {
				if !strings.Contains(found.Detail+" "+found.Hint, part) {
					t.Errorf("got %+v, want %q in it", found, part)
				}
			}
		})
	}
}

// TestRecordsThatStandStill: a projector that gets no facts knows of no lag.
func TestRecordsThatStandStill(t *testing.T) {
	now := time.Now()
	state := wellness{log: eventlog.State{Last: 9}, projection: projector.Status{Checkpoint: projector.Checkpoint{Row: 5, Sequence: 9}}}
	h := healthOf(t, &state, &now)
	look := func(after time.Duration, want bool) {
		t.Helper()
		now = now.Add(after)
		for _, check := range h.Status(t.Context()).Checks {
			if check.Name == "projector" && check.OK != want {
				t.Errorf("got %+v, want ok %v", check, want)
			}
		}
	}
	look(0, true)
	look(time.Hour, true) // nothing happens
	state.log.Last = 12
	look(time.Hour, true) // since when is not known
	look(readyLag, true)
	look(time.Second, false)
	state.projection.Checkpoint.Row++ // a step of a long command
	look(time.Second, true)
	look(readyLag+time.Second, false)
	state.projection.Checkpoint = projector.Checkpoint{Row: 7, Sequence: 12}
	look(time.Second, true)
	state.log.Last, state.projection.Working = 13, true
	look(time.Second, true)
	look(commandPatience, true)
	state.projection.Lag = time.Hour
	look(time.Second, false)
}

func TestLogRemembersTrouble(t *testing.T) {
	now := time.Now()
	var says error
	w := NewLog(appending(func() error { return says }), nil, func() time.Time { return now })
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	full := errata.Errorf(errata.KindLogFull, "full")
	for _, step := range []struct {
		name  string
		ctx   context.Context
		err   error
		after time.Duration
		want  errata.Kind
	}{
		{"taken", t.Context(), nil, 0, ""},
		{"full", t.Context(), full, 0, errata.KindLogFull},
		{"an event that is too large says nothing", t.Context(), errata.Errorf(errata.KindInvalidEvent, "large"), 0, errata.KindLogFull},
		{"taken again", t.Context(), nil, 0, ""},
		{"sender went away", gone, full, 0, ""},
		{"refused", t.Context(), errata.Errorf(errata.KindLogUnavailable, "away"), troubleFades, errata.KindLogUnavailable},
		{"refused long ago", t.Context(), errata.Errorf(errata.KindLogUnavailable, "away"), troubleFades + 1, ""},
	} {
		says = step.err
		if err := w.Append(step.ctx, nil); !errors.Is(err, step.err) {
			t.Fatalf("%s: got %v, want what the log said", step.name, err)
		}
		now = now.Add(step.after)
		if err := w.trouble(); (err != nil) != (step.want != "") || err != nil && errata.KindOf(err) != step.want {
			t.Errorf("%s: trouble %v, want %q", step.name, err, step.want)
		}
	}
}
