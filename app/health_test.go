package app

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
)

// wellness is what the parts of a service say; the zero value is well.
type wellness struct {
	log        eventlog.State
	logErr     error
	appendErr  error
	pingErr    error
	tables     []string
	records    error
	projection projector.Status
	alarms     []errata.Alarm
	keys       []access.Key
	strays     string
}

func healthOf(w *wellness, now *time.Time) *health {
	return &health{
		log:        func(context.Context) (eventlog.State, error) { return w.log, w.logErr },
		trouble:    func() error { return w.appendErr },
		ping:       func(context.Context) error { return w.pingErr },
		unsynced:   func(context.Context) ([]string, error) { return w.tables, w.pingErr },
		records:    func() error { return w.records },
		projection: func() projector.Status { return w.projection },
		alarms:     func() []errata.Alarm { return w.alarms },
		keys:       func() []access.Key { return w.keys },
		strays:     func() string { return w.strays },
		engines: func(context.Context) []engine.Check {
			return []engine.Check{{Name: "nats", OK: true, Detail: "embedded"}}
		},
		now: func() time.Time { return *now },
	}
}

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
		{"ClickHouse away", wellness{}, wellness{pingErr: errAway}, errata.KindStoreUnavailable},
		{"waits for ClickHouse since the start", wellness{}, wellness{records: errata.Errorf(errata.KindStoreUnavailable, "away")}, errata.KindStoreUnavailable},
		{"a little behind", wellness{}, wellness{projection: projector.Status{Lag: readyLag}}, ""},
		{"far behind and stuck", wellness{}, wellness{projection: projector.Status{Lag: readyLag + 1}}, errata.KindStoreUnavailable},
		{"far behind and getting on",
			wellness{projection: projector.Status{Checkpoint: at(7), Lag: time.Hour}},
			wellness{projection: projector.Status{Checkpoint: at(8), Lag: time.Hour}}, ""},
		{"an alarm stands", wellness{}, wellness{alarms: []errata.Alarm{{Name: "log-gap"}}}, errata.KindDegraded},
		{"stuck with an error", wellness{}, wellness{projection: projector.Status{Err: errAway}}, errata.KindStoreUnavailable},
		{"an error, and getting on again",
			wellness{projection: projector.Status{Checkpoint: at(7)}},
			wellness{projection: projector.Status{Checkpoint: at(8), Err: errAway}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			state, clock := c.before, now.Add(-time.Minute)
			h := healthOf(&state, &clock)
			h.progress()
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
	h := healthOf(&wellness{projection: projector.Status{Lag: time.Hour}}, &now)
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
		{"tables", wellness{}, "table sync", true, nil},
		{"tables without fsync", wellness{tables: []string{"answers", "records"}}, "table sync", false, []string{"answers, records", "ALTER TABLE"}},
		{"tables not to be asked", wellness{pingErr: errAway}, "table sync", false, []string{"refused"}},
		{"projector", wellness{log: eventlog.State{Last: 12}, projection: projector.Status{Checkpoint: projector.Checkpoint{Sequence: 9}, Lag: 250 * time.Millisecond}},
			"projector", true, []string{"fact 9", "250ms", "3 facts to go"}},
		{"a key that ends in a month", wellness{keys: []access.Key{
			{ID: "0123456789ab", Name: "shop", ExpiresAt: now.Add(access.WarnBefore)}, {ID: "later", ExpiresAt: now.Add(access.WarnBefore + time.Hour)},
			{ID: "ended", ExpiresAt: now}, {ID: "revoked", ExpiresAt: now.Add(time.Hour), RevokedAt: now}, {ID: "endless"},
		}}, "keys", true, []string{`soon to end: 0123456789ab "shop" on ` + now.Add(access.WarnBefore).UTC().Format(time.DateOnly), "errata keys create"}},
		{"nothing of others", wellness{}, "foreign facts", true, nil},
		{"something of others", wellness{strays: "2 in log"}, "foreign facts", false, []string{"2 in log", "passwords"}},
		{"no key that ends", wellness{}, "keys", true, []string{"none ends soon"}},
		{"alarm", wellness{alarms: []errata.Alarm{{Name: "log-gap", Detail: "facts 3 to 4 cannot be read", Hint: "errata log verify"}}},
			"log-gap", false, []string{"facts 3 to 4", "errata log verify"}},
		{"projector in trouble", wellness{projection: projector.Status{Err: errAway}}, "projector", true, []string{"refused"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := healthOf(&c.state, &now)
			var found api.Check
			for _, check := range h.Checks(t.Context()) {
				if check.Name == c.check {
					found = check
				}
				if !check.OK && check.Hint == "" {
					t.Errorf("%s: failed without a word on what to do", check.Name)
				}
			}
			if found.OK != c.ok {
				t.Errorf("got %+v, want ok %v", found, c.ok)
			}
			for _, part := range c.parts {
				if !strings.Contains(found.Detail+" "+found.Hint, part) {
					t.Errorf("got %+v, want %q in it", found, part)
				}
			}
		})
	}
}

// takes is a log that answers as told.
type takes struct{ err error }

func (l *takes) Append(context.Context, []errata.Event) error { return l.err }

func TestWatchedLog(t *testing.T) {
	now := time.Now()
	log := &takes{}
	w := &watchedLog{appender: log, now: func() time.Time { return now }}
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
		log.err = step.err
		if err := w.Append(step.ctx, nil); !errors.Is(err, step.err) {
			t.Fatalf("%s: got %v, want what the log said", step.name, err)
		}
		now = now.Add(step.after)
		if err := w.trouble(); (err != nil) != (step.want != "") || err != nil && errata.KindOf(err) != step.want {
			t.Errorf("%s: trouble %v, want %q", step.name, err, step.want)
		}
	}
}

// Whoever looks at the checks does so while something is wrong: a ClickHouse
// that is frozen must not keep them from answering.
func TestChecksAnswerWhileClickHouseIsFrozen(t *testing.T) {
	now := time.Now()
	h := healthOf(&wellness{}, &now)
	thaw := make(chan struct{})
	defer close(thaw)
	h.unsynced = func(context.Context) ([]string, error) {
		<-thaw
		return nil, errAway
	}
	for _, c := range h.Checks(t.Context()) {
		if c.Name == "table sync" && (c.OK || !strings.Contains(c.Detail, context.DeadlineExceeded.Error())) {
			t.Errorf("%+v", c)
		}
	}
}
