package eventlog_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// flaky loses the answers to the first publishes. Before the sender tries again, it
// calls meanwhile.
type flaky struct {
	jetstream.JetStream
	lose      int
	reached   bool // whether the lost ones reach the log
	meanwhile func()
}

func (f *flaky) PublishMsg(ctx context.Context, msg *nats.Msg, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	if f.lose == 0 {
		return f.JetStream.PublishMsg(ctx, msg, opts...)
	}
	f.lose--
	if f.reached {
		if _, err := f.JetStream.PublishMsg(ctx, msg, opts...); err != nil {
			return nil, err
		}
	}
	if f.meanwhile != nil {
		f.meanwhile()
		f.meanwhile = nil
	}
	return nil, context.DeadlineExceeded
}

func TestAppendSetting(t *testing.T) {
	l := newLog(t)
	if _, found, err := eventlog.LastSetting(t.Context(), l.Log, "x"); found || err != nil {
		t.Fatalf("before it was set: found %v, %v", found, err)
	}
	by := errata.Actor{KeyID: "k", KeyName: "näme", Route: "PUT /x"}
	first, err := eventlog.AppendSetting(errata.WithActor(t.Context(), by), l.Log, "x", []byte("one"), 0)
	if err != nil {
		t.Fatal(err)
	}
	got, found, err := eventlog.LastSetting(t.Context(), l.Log, "x")
	if err != nil || !found || got.Name != "x" || string(got.Data) != "one" || got.Sequence != first || got.By != by {
		t.Errorf("got %+v, %v, %v", got, found, err)
	}
	if _, err := eventlog.AppendSetting(t.Context(), l.Log, "x", []byte("lost"), 0); !errors.Is(err, eventlog.ErrSettingMoved) {
		t.Errorf("after nothing: %v, want ErrSettingMoved", err)
	}
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := eventlog.AppendSetting(short, l.Log, "x", []byte("lost"), first+1); errata.KindOf(err) != errata.KindLogUnavailable {
		t.Errorf("after a fact that is not there: %v, want log_unavailable", err)
	}
	if _, err := eventlog.AppendSetting(t.Context(), l.Log, "y", []byte("other"), 0); err != nil {
		t.Errorf("another name: %v", err)
	}
	if second, err := eventlog.AppendSetting(t.Context(), l.Log, "x", []byte("two"), first); err != nil || second <= first {
		t.Errorf("second: %d, %v", second, err)
	}
}

// TestAppendSettingInAFamily: a change is compared with the newest fact of the family, not
// with that of its own name.
func TestAppendSettingInAFamily(t *testing.T) {
	l := newLog(t)
	in := func(name, data string, after uint64) (uint64, error) {
		return eventlog.AppendSettingIn(t.Context(), l.Log, "f.", name, []byte(data), after)
	}
	if _, err := eventlog.AppendSetting(t.Context(), l.Log, "fa", []byte("of no family"), 0); err != nil {
		t.Fatal(err)
	}
	first, err := in("f.a", "1", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in("f.b", "lost", 0); !errors.Is(err, eventlog.ErrSettingMoved) {
		t.Errorf("another name after nothing: %v, want ErrSettingMoved", err)
	}
	second, err := in("f.b", "2", first)
	if err != nil {
		t.Fatal(err)
	}
	third, err := eventlog.AppendSetting(t.Context(), l.Log, "f.a", []byte("3"), first) // its own name is at first
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in("f.a", "lost", second); !errors.Is(err, eventlog.ErrSettingMoved) {
		t.Errorf("after an older fact of the family: %v, want ErrSettingMoved", err)
	}
	names, upTo, err := eventlog.SettingNames(t.Context(), l.Log, "f.")
	if err != nil || !slices.Equal(names, []string{"f.a", "f.b"}) || upTo != third {
		t.Errorf("names %q up to %d, %v", names, upTo, err)
	}
	for after, want := range map[uint64]string{0: "f.a 1,f.b 2,f.a 3", first: "f.b 2,f.a 3", third: ""} {
		facts, last, err := eventlog.SettingsAfter(t.Context(), l.Log, "f.", after)
		var got []string
		for _, f := range facts {
			got = append(got, f.Name+" "+string(f.Data))
		}
		if err != nil || strings.Join(got, ",") != want || last != third {
			t.Errorf("after %d: %q, last %d, %v, want %q", after, got, last, err, want)
		}
	}
	if names, upTo, err := eventlog.SettingNames(t.Context(), l.Log, "none."); err != nil || len(names) != 0 || upTo != 0 {
		t.Errorf("an empty family: %q, %d, %v", names, upTo, err)
	}
}

// TestAppendSettingInAFamilyWhenAnswersAreLost: the sender finds its own message and takes
// no other one of the family for its own.
func TestAppendSettingInAFamilyWhenAnswersAreLost(t *testing.T) {
	for _, reached := range []bool{true, false} {
		l := newLog(t)
		log := l.Log
		log.JetStream = &flaky{JetStream: log.JetStream, lose: 1, reached: reached, meanwhile: func() {
			var after uint64
			if reached {
				after = 1
			}
			if _, err := eventlog.AppendSettingIn(t.Context(), l.Log, "f.", "f.b", []byte("other"), after); err != nil {
				t.Error(err)
			}
		}}
		sequence, err := eventlog.AppendSettingIn(t.Context(), log, "f.", "f.a", []byte("mine"), 0)
		if reached && (err != nil || sequence != 1) || !reached && !errors.Is(err, eventlog.ErrSettingMoved) {
			t.Errorf("the message reached the log: %v; got %d, %v", reached, sequence, err)
		}
	}
}

// TestAppendSettingWhenAnswersAreLost: the sender finds its own message, also when
// another one was written after it, and never takes another one for its own.
func TestAppendSettingWhenAnswersAreLost(t *testing.T) {
	for _, c := range []struct {
		name    string
		lose    int
		reached bool
		other   bool // another sender writes meanwhile
		want    error
		facts   int
	}{
		{"the message too", 2, false, false, nil, 1},
		{"the answer only", 1, true, false, nil, 1},
		{"the answer, and another message comes after", 1, true, true, nil, 2},
		{"the message, and another one comes instead", 1, false, true, eventlog.ErrSettingMoved, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLog(t)
			log := l.Log
			f := &flaky{JetStream: log.JetStream, lose: c.lose, reached: c.reached}
			if c.other {
				f.meanwhile = func() {
					last, _, err := eventlog.LastSetting(t.Context(), l.Log, "x")
					if err != nil {
						t.Error(err)
					}
					if _, err := eventlog.AppendSetting(t.Context(), l.Log, "x", []byte("other"), last.Sequence); err != nil {
						t.Error(err)
					}
				}
			}
			log.JetStream = f
			seq, err := eventlog.AppendSetting(t.Context(), log, "x", []byte("mine"), 0)
			if !errors.Is(err, c.want) || err == nil && seq != 1 {
				t.Errorf("got %d, %v, want 1, %v", seq, err, c.want)
			}
			if facts, _ := l.readAll(t); len(facts) != c.facts {
				t.Errorf("%d facts, want %d", len(facts), c.facts)
			}
		})
	}
}

// TestFollowSettings: first the newest fact of each name, then new facts.
func TestFollowSettings(t *testing.T) {
	l := newLog(t)
	put := func(name, data string) {
		t.Helper()
		last, _, err := eventlog.LastSetting(t.Context(), l.Log, name)
		if err == nil {
			_, err = eventlog.AppendSetting(t.Context(), l.Log, name, []byte(data), last.Sequence)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put("a", "1")
	put("a", "2")
	put("b", "1")
	if err := l.appender(t).Append(t.Context(), []errata.Event{event("no setting")}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	seen := make(chan string, 16)
	var following sync.WaitGroup
	following.Go(func() {
		err := eventlog.FollowSettings(ctx, l.Log, func(s eventlog.Setting) { seen <- s.Name + string(s.Data) + s.By.KeyID })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("following ended with %v", err)
		}
	})
	for i, want := range []string{"a2service", "b1service", "a3service", "c1service"} {
		switch i {
		case 2:
			put("a", "3")
		case 3:
			put("c", "1")
		}
		if got := <-seen; got != want {
			t.Errorf("seen %q, want %q", got, want)
		}
	}
	cancel()
	following.Wait()
	gone := l.Log
	gone.Stream = "NOWHERE"
	if err := eventlog.FollowSettings(t.Context(), gone, func(eventlog.Setting) {}); err == nil {
		t.Error("following a stream that is not there ended without an error")
	}
}
