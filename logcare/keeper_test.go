package logcare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/logfiles"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func TestPauseBehind(t *testing.T) {
	for _, c := range []struct{ took, want time.Duration }{
		{0, time.Minute},
		{time.Second, time.Minute},
		{10 * time.Second, 90 * time.Second},
		{5 * time.Minute, 45 * time.Minute},
		{40 * time.Minute, 6 * time.Hour},
		{24 * time.Hour, 6 * time.Hour},
	} {
		if got := pauseBehind(c.took); got != c.want {
			t.Errorf("behind a look of %v comes a pause of %v, want %v", c.took, got, c.want)
		}
		work, whole := c.took/(1+lookShare), c.took+pauseBehind(c.took)
		if c.took < time.Hour && work > whole/lookPart {
			t.Errorf("looks of %v work %v of %v", c.took, work, whole)
		}
	}
}

// cared is a log of ten facts with one event each, and its alarms.
type cared struct {
	*testenv.Broker
	t      *testing.T
	log    eventlog.Log
	alarms *testenv.Alarms
	backup string // copy of the files
}

func newCared(t *testing.T) *cared {
	t.Helper()
	b := testenv.NewBroker(t)
	if !b.Embedded() {
		t.Skip("needs the files of an embedded NATS") // reason: an external server's files are out of reach
	}
	c := &cared{
		Broker: b, t: t, alarms: &testenv.Alarms{}, backup: filepath.Join(t.TempDir(), "backup"),
		log: eventlog.Log{
			NATS: b.NATS, JetStream: b.JetStream,
			Stream: migrations.StreamName(b.Namespace), Prefix: migrations.SubjectPrefix(b.Namespace),
		},
	}
	c.append(10)
	c.DamageNATS(func(folder string) {
		if err := os.CopyFS(c.backup, os.DirFS(folder)); err != nil {
			t.Fatal(err)
		}
	})
	return c
}

func (c *cared) append(facts int) {
	c.t.Helper()
	a, err := eventlog.NewAppender(eventlog.AppenderConfig{Log: c.log})
	if err != nil {
		c.t.Fatal(err)
	}
	for i := range facts {
		at := time.UnixMilli(1_795_231_120_683).UTC()
		e := errata.Event{
			ID: errata.NewEventID(1, fmt.Sprint(i)), Project: 1, Book: errata.BookSystem,
			Time: at, Received: at, Message: fmt.Sprint(i), Payload: []byte(`{}`),
		}
		if err := a.Append(c.t.Context(), []errata.Event{e}); err != nil {
			c.t.Fatal(err)
		}
	}
	if err := a.Close(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
}

// keeper makes a Keeper that has just started.
func (c *cared) keeper(policy Policy) *Keeper {
	c.t.Helper()
	k, err := New(c.t.Context(), Config{
		Log: c.log, Policy: policy, Alarms: c.alarms, Folder: filepath.Join(c.Dir, "nats"),
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return k
}

// flip damages a fact.
func (c *cared) flip(sequence uint64) {
	c.t.Helper()
	c.DamageNATS(func(folder string) {
		file := testenv.LogFiles(c.t, folder, c.log.Stream)[0].Path
		at, size := testenv.FindRecord(c.t, file, sequence)
		testenv.Flip(c.t, file, at+size-20)
	})
}

// repair puts back what is gone.
func (c *cared) repair() {
	c.t.Helper()
	c.DamageNATS(func(folder string) {
		here, errHere := logfiles.Open(folder, c.log.Stream)
		from, errFrom := logfiles.Open(c.backup, c.log.Stream)
		copied, errCopy := from.Copy()
		judge := func(m logfiles.Message) logfiles.Kind {
			if eventlog.IsFilling(strings.TrimPrefix(m.Subject, c.log.Prefix), m.Sequence, m.Data) {
				return logfiles.Filling
			}
			return logfiles.Good
		}
		inv, errRead := here.Read(judge)
		if err := errors.Join(errHere, errFrom, errCopy, errRead); err != nil {
			c.t.Fatal(err)
		}
		n, err := inv.Repair(c.t.Context(), 1, []logfiles.Copy{copied}, filepath.Join(c.Dir, "kept"), judge)
		if n == 0 || err != nil {
			c.t.Fatalf("%d facts are back, %v", n, err)
		}
	})
}

// want compares the gaps with their texts, and the alarms with their names and a
// word of each.
func (c *cared) want(what string, gaps []Gap, want ...string) {
	c.t.Helper()
	var got []string
	for _, g := range gaps {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%d-%d %s %s %s", g.From, g.To, g.Why, g.By, g.Name)))
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		c.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func (c *cared) wantAlarms(want map[string]string) {
	c.t.Helper()
	standing := c.alarms.Standing()
	for name, word := range want {
		if !strings.Contains(standing[name], word) {
			c.t.Errorf("alarm %s says %q, want %q in it", name, standing[name], word)
		}
	}
	if len(standing) != len(want) {
		c.t.Errorf("the alarms %v stand, want %v", standing, want)
	}
}

func (c *cared) verify(k *Keeper) Report {
	c.t.Helper()
	report, err := k.Verify(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	return report
}

// facts is how many facts the log has.
func (c *cared) facts() uint64 {
	c.t.Helper()
	state, err := eventlog.Inspect(c.t.Context(), c.log)
	if err != nil {
		c.t.Fatal(err)
	}
	return state.Facts
}

// TestPass: the decision of the policy is put on the log once, for any number of
// calls. With the policy Stop, folding continues when an operator has accepted the
// gap.
func TestPass(t *testing.T) {
	for _, policy := range []Policy{Accept, Stop} {
		t.Run(string(policy), func(t *testing.T) {
			c := newCared(t)
			c.flip(4)
			before := c.facts()
			k, again := c.keeper(policy), c.keeper(policy)
			for _, each := range []*Keeper{k, k, again, c.keeper(policy)} {
				err := each.Pass(t.Context(), 4, 4, eventlog.GapMissing)
				if policy == Accept && err != nil || policy == Stop && !errors.Is(err, ErrStopped) {
					t.Errorf("passing a gap: %v", err)
				}
			}
			if n := c.facts() - before; n != 1 {
				t.Errorf("%d facts were appended, want one", n)
			}
			c.want("open", k.State().Open, "4-4 missing policy")
			if open := k.State().Open[0]; open.LeastEvents != 1 || open.MostEvents != 1 || open.Files != "1.blk or behind it" {
				t.Errorf("the gap is %+v, want one event of a known file", open)
			}
			c.wantAlarms(map[string]string{AlarmGap: map[Policy]string{
				Accept: "What stands behind it is shown", Stop: "Nothing new is shown since fact 3",
			}[policy]})
			if _, err := again.Settle(t.Context(), "Ada"); err != nil { // on another node
				t.Fatal(err)
			}
			if err := k.Pass(t.Context(), 4, 4, eventlog.GapMissing); err != nil {
				t.Errorf("passing what was accepted: %v", err)
			}
			if policy == Stop {
				c.wantAlarms(nil)
			}
		})
	}
}

// TestPassOfWhatWasPurged: facts that were purged after a snapshot are no gap.
func TestPassOfWhatWasPurged(t *testing.T) {
	c := newCared(t)
	if _, err := c.log.JetStream.Publish(t.Context(), c.log.Prefix+"cmd.snapshot", []byte(`{"keep":6}`)); err != nil {
		t.Fatal(err)
	}
	if err := eventlog.Purge(t.Context(), c.log, 6); err != nil {
		t.Fatal(err)
	}
	before, k := c.facts(), c.keeper(Stop)
	if err := k.Pass(t.Context(), 1, 5, eventlog.GapMissing); err != nil {
		t.Error(err)
	}
	if report := c.verify(k); len(report.Gaps) != 0 || report.First != 6 || c.facts() != before {
		t.Errorf("%+v, and %d facts, want %d", report, c.facts(), before)
	}
}

// TestSettle: what an operator accepts is on the log in their name, once.
func TestSettle(t *testing.T) {
	c := newCared(t)
	c.flip(4)
	c.flip(7)
	k := c.keeper(Accept)
	c.want("found", c.verify(k).Gaps, "4-4 missing policy", "7-7 missing policy")
	ctx := errata.WithActor(t.Context(), errata.Actor{KeyID: "key-1"})
	settled, err := k.Settle(ctx, "Ada")
	if err != nil {
		t.Fatal(err)
	}
	c.want("settled", settled, "4-4 missing operator Ada", "7-7 missing operator Ada")
	c.wantAlarms(nil)
	if again, err := k.Settle(ctx, "Grace"); err != nil || len(again) != 0 {
		t.Errorf("settled again: %v, %v", again, err)
	}
	facts, err := eventlog.GapFacts(t.Context(), c.log)
	if last := facts[len(facts)-1]; err != nil || last.Actor.KeyID != "key-1" {
		t.Errorf("the last fact is %+v (%v), want the operator's key", last, err)
	}
	next := c.keeper(Accept)
	c.want("open after a start", next.State().Open)
	c.want("settled after a start", next.State().Settled, "4-4 missing operator Ada", "7-7 missing operator Ada")
	c.want("found again", c.verify(next).Gaps, "4-4 missing operator Ada", "7-7 missing operator Ada")
	if next.State().Looked == nil {
		t.Error("nobody knows when the log was read")
	}
}

// TestCameBack: facts that a repair has put back raise an alarm until a replay,
// whether an operator had accepted the gap or not.
func TestCameBack(t *testing.T) {
	c := newCared(t)
	c.flip(4)
	k := c.keeper(Accept)
	c.verify(k)
	if _, err := k.Settle(t.Context(), "Ada"); err != nil {
		t.Fatal(err)
	}
	c.flip(7)
	k = c.keeper(Accept)
	c.want("found", c.verify(k).Gaps, "4-4 missing operator Ada", "7-7 missing policy")
	c.want("back before a repair", k.State().Back)
	c.wantAlarms(map[string]string{AlarmGap: "fact 7 is missing"})

	c.repair()
	k = c.keeper(Accept)
	c.want("found after the repair", c.verify(k).Gaps)
	c.want("back", k.State().Back, "7-7 missing policy", "4-4 missing operator Ada")
	c.wantAlarms(map[string]string{AlarmBack: "errata replay"})
	if err := k.Replayed(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, each := range []*Keeper{k, c.keeper(Accept)} {
		c.verify(each)
		state := each.State()
		c.want("after the replay", append(append(state.Open, state.Settled...), state.Back...))
	}
	c.wantAlarms(nil)
}

// TestReplayedOlder: a log that ended before the records raises an alarm until its
// facts are back, or a replay has made the records from what it has.
func TestReplayedOlder(t *testing.T) {
	for _, way := range []string{"repaired", "replayed"} {
		t.Run(way, func(t *testing.T) {
			c := newCared(t)
			whole := c.backup
			c.DamageNATS(func(folder string) { // now it ends with fact 7
				file := testenv.LogFiles(t, folder, c.log.Stream)[0].Path
				at, _ := testenv.FindRecord(t, file, 8)
				if err := errors.Join(os.Truncate(file, at), os.Remove(filepath.Join(filepath.Dir(file), "index.db"))); err != nil {
					t.Fatal(err)
				}
			})
			k := c.keeper(Accept)
			if err := projector.Fill(t.Context(), c.log, k, 8, 10); err != nil {
				t.Fatal(err)
			}
			c.append(1)
			c.want("found", c.verify(k).Gaps)
			c.want("open", k.State().Open, "8-10 older policy")
			c.want("back", k.State().Back)
			c.wantAlarms(map[string]string{AlarmOlder: "facts 8 to 10 were lost from the end of the log"})
			if way == "repaired" {
				c.backup = whole
				c.repair()
				k = c.keeper(Accept)
				c.verify(k)
				c.want("back after the repair", k.State().Back, "8-10 older policy")
				c.wantAlarms(map[string]string{AlarmBack: "errata replay"})
			}
			if err := k.Replayed(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.wantAlarms(nil)
			c.want("open after the replay", c.keeper(Accept).State().Open)
		})
	}
}

// TestLook: a gap is noticed without a question, at the start, and soon after it
// appears by the log's own numbers.
func TestLook(t *testing.T) {
	c := newCared(t)
	k := c.keeper(Accept)
	k.Start()
	defer k.Stop()
	c.await(func() bool { return k.State().Looked != nil })
	c.want("open", k.State().Open)
	c.flip(5)
	c.DamageNATS(func(folder string) { // without its index the server counts again
		index := filepath.Join(filepath.Dir(testenv.LogFiles(t, folder, c.log.Stream)[0].Path), "index.db")
		if err := os.Remove(index); err != nil {
			t.Fatal(err)
		}
	})
	c.await(func() bool { return len(k.State().Open) > 0 })
	c.want("open", k.State().Open, "5-5 missing policy")
}

func (c *cared) await(done func() bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			c.t.Fatal("it did not happen")
		}
	}
}
