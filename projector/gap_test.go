package projector_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/logcare"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/test/testenv"
)

// watched is a ledger on a log of small files, with a Keeper.
type watched struct {
	*ledger
	alarms *testenv.Alarms
	keeper *logcare.Keeper
	policy logcare.Policy
}

func newWatched(t *testing.T, policy logcare.Policy) *watched {
	t.Helper()
	l := newLedger(t)
	l.NeedEmbedded()
	namespace := l.SmallLog()
	l.log.Stream, l.log.Prefix = migrations.StreamName(namespace), migrations.SubjectPrefix(namespace)
	appender, err := eventlog.NewAppender(eventlog.AppenderConfig{Log: l.log})
	if err != nil {
		t.Fatal(err)
	}
	commander, err := eventlog.NewCommander(eventlog.CommanderConfig{Log: l.log, Answers: projector.NewStore(l.ClickHouse, 0)})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.appender.Close(t.Context()), l.commander.Close()); err != nil {
		t.Fatal(err)
	}
	l.appender, l.commander = appender, commander
	return &watched{ledger: l, alarms: &testenv.Alarms{}, policy: policy}
}

// run starts keeper and projector as a service does.
func (w *watched) run() (p *projector.Projector, stop func()) {
	w.t.Helper()
	var err error
	if w.keeper, err = logcare.New(w.t.Context(), logcare.Config{Log: w.log, Policy: w.policy, Alarms: w.alarms}); err != nil {
		w.t.Fatal(err)
	}
	cfg := w.config()
	cfg.Gaps = w.keeper
	if p, err = projector.New(w.t.Context(), cfg); err != nil {
		w.t.Fatal(err)
	}
	p.Start()
	w.keeper.Start()
	stop = func() {
		w.keeper.Stop()
		if err := p.Stop(context.WithoutCancel(w.t.Context())); err != nil {
			w.t.Error(err)
		}
	}
	w.t.Cleanup(stop)
	return p, stop
}

// fill appends one event in each fact, of five problems, and says which problem
// by sequence.
func (w *watched) fill(facts int) map[uint64]string {
	w.t.Helper()
	problems := map[uint64]string{}
	for i := range facts {
		e := event(fmt.Sprint("problem ", i%5), fmt.Sprint(i))
		e.Payload = fmt.Appendf(nil, `{"id":"%d","fill":%q}`, i, strings.Repeat(fmt.Sprint(i*7919), 60))
		w.append(e)
		problems[uint64(i+1)] = e.Message
	}
	return problems
}

// counts are the counts of the problems without the lost facts.
func counts(problems map[uint64]string, gone ...uint64) map[string]uint64 {
	left := maps.Clone(problems)
	for _, sequence := range gone {
		delete(left, sequence)
	}
	sums := map[string]uint64{}
	for _, problem := range left {
		sums[problem]++
	}
	return sums
}

// visible waits until an event that is appended now is in the records.
func (w *watched) visible(message string) time.Duration {
	w.t.Helper()
	began := time.Now()
	w.append(event(message, message))
	w.barrier()
	return time.Since(began)
}

// await waits for an alarm that names all of the words.
func (w *watched) await(name string, words ...string) {
	w.t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		text := w.alarms.Text(name)
		missing := text == ""
		for _, word := range words {
			missing = missing || !strings.Contains(text, word)
		}
		if !missing {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			w.t.Fatalf("alarm %s says %q, want %q in it", name, text, words)
		}
	}
}

// flip flips a bit in the payload of a fact while NATS is down.
func (w *watched) flip(sequence uint64) {
	w.t.Helper()
	w.DamageNATS(func(folder string) {
		var file string
		for _, f := range testenv.LogFiles(w.t, folder, w.log.Stream) {
			if f.First <= sequence {
				file = f.Path
			}
		}
		at, size := testenv.FindRecord(w.t, file, sequence)
		testenv.Flip(w.t, file, at+size-30)
	})
}

// replay compares, and wants the words in the differences; without words it wants
// no difference.
func (w *watched) replay(p *projector.Projector, words ...string) projector.Comparison {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	found, err := projector.Rebuild(ctx, p, w.rebuild())
	if err != nil {
		w.t.Fatal(err)
	}
	text := strings.Join(found.Differences, "; ")
	if len(words) == 0 && !found.Equal() {
		w.t.Errorf("the replay differs: %s", text)
	}
	for _, word := range words {
		if !strings.Contains(text, word) {
			w.t.Errorf("the replay says %q, want %q in it", text, word)
		}
	}
	return found
}

// TestGapIsPassed: a fact is lost before it was folded. All others are counted, an
// alarm is raised, and a replay gives the same records and reports the gap.
func TestGapIsPassed(t *testing.T) {
	w := newWatched(t, logcare.Accept)
	problems := w.fill(100)
	w.flip(42)
	p, _ := w.run()
	if took := w.visible("behind"); took > 10*time.Second {
		t.Errorf("a new event was visible after %v", took)
	}
	w.await(logcare.AlarmGap, "fact 42", "with 1 event", "errata log accept")
	want := counts(problems, 42)
	want["behind"] = 1
	w.want(want)
	if found := w.replay(p, "fact 42 is missing"); len(found.Differences) != 1 || len(found.Gaps) != 1 {
		t.Errorf("the replay found %v", found.Differences)
	}
	if _, err := w.keeper.Settle(t.Context(), "Ada"); err != nil {
		t.Fatal(err)
	}
	if text := w.alarms.Text(logcare.AlarmGap); text != "" {
		t.Errorf("accepted, and the alarm stands: %s", text)
	}
	if found := w.replay(p); len(found.Gaps) != 1 {
		t.Errorf("after it was accepted the replay names %v", found.Gaps)
	}
	w.want(want)
}

// TestGapBehindTheCheckpoint: events that were folded before the damage stay in the
// records; an alarm says that a replay would lose them.
func TestGapBehindTheCheckpoint(t *testing.T) {
	w := newWatched(t, logcare.Accept)
	_, stop := w.run()
	problems := w.fill(100)
	w.barrier()
	stop()
	w.flip(7)
	w.flip(101) // the barrier, which is the last fact of the log
	p, _ := w.run()
	w.await(logcare.AlarmGap, "fact 7 ", "fact 101 ")
	w.visible("behind")
	want := counts(problems)
	want["behind"] = 1
	w.want(want)
	w.replay(p, "fact 7 is missing", "count: live 101, rebuilt 100")
	w.want(want)
}

// TestGapStops: with the policy Stop, nothing new is folded until an operator has
// accepted the gap.
func TestGapStops(t *testing.T) {
	w := newWatched(t, logcare.Stop)
	problems := w.fill(50)
	w.flip(20)
	w.run()
	w.await(logcare.AlarmGap, "since fact 19", "errata log accept")
	if _, err := w.keeper.Settle(t.Context(), "Ada"); err != nil {
		t.Fatal(err)
	}
	w.barrier()
	w.want(counts(problems, 20))
}

// TestOlderLog: a backup of the log that is older than the records raises an alarm,
// new events are counted once, and both ways out do what the alarm says.
func TestOlderLog(t *testing.T) {
	for _, way := range []string{"keep", "replay"} {
		t.Run(way, func(t *testing.T) {
			w := newWatched(t, logcare.Accept)
			_, stop := w.run()
			w.append(event("old", "1"))
			w.barrier()
			backup := filepath.Join(t.TempDir(), "backup")
			w.DamageNATS(func(folder string) {
				if err := os.CopyFS(backup, os.DirFS(folder)); err != nil {
					t.Fatal(err)
				}
			})
			w.append(event("old", "2"), event("lost", "3"))
			w.barrier()
			stop()
			w.DamageNATS(func(folder string) {
				if err := os.RemoveAll(folder); err != nil {
					t.Fatal(err)
				}
				if err := os.CopyFS(folder, os.DirFS(backup)); err != nil {
					t.Fatal(err)
				}
			})
			p, stop := w.run()
			w.await(logcare.AlarmOlder, "facts 3 to 4", "errata log accept", "errata replay --force")
			w.visible("new")
			want := map[string]uint64{"old": 2, "lost": 1, "new": 1}
			w.want(want)
			w.replay(p, "facts 3 to 4 were lost from the end of the log", "records: live 3, rebuilt 2")
			stop()
			p, _ = w.run() // which must not forget it
			w.await(logcare.AlarmOlder, "facts 3 to 4")
			if way == "keep" {
				if _, err := w.keeper.Settle(t.Context(), "Ada"); err != nil {
					t.Fatal(err)
				}
			} else {
				forced := w.rebuild()
				forced.Force = true
				if _, err := projector.Rebuild(t.Context(), p, forced); err != nil {
					t.Fatal(err)
				}
				if err := w.keeper.Replayed(t.Context()); err != nil {
					t.Fatal(err)
				}
				want = map[string]uint64{"old": 1, "new": 1}
			}
			if text := w.alarms.Text(logcare.AlarmOlder); text != "" {
				t.Errorf("decided, and the alarm stands: %s", text)
			}
			w.barrier()
			w.want(want)
		})
	}
}
