package eventlog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/test/testenv"
)

// damageFact flips a bit near the end of a fact of the log.
func (l logEnv) damageFact(t *testing.T, sequences ...uint64) {
	t.Helper()
	l.DamageNATS(func(folder string) {
		for _, sequence := range sequences {
			files := testenv.LogFiles(t, folder, l.Stream)
			at, size := testenv.FindRecord(t, files[0].Path, sequence)
			testenv.Flip(t, files[0].Path, at+size-10)
		}
	})
}

// TestFollowersPassGaps: all readers of the log read settings, commands and
// outcomes on both sides of a gap.
//
// long: one damaged log, and each of its readers.
func TestFollowersPassGaps(t *testing.T) {
	l := newLog(t)
	l.NeedEmbedded()
	ctx, cancel := context.WithTimeout(t.Context(), gapPatience)
	defer cancel()
	set := func(name, value string, after uint64) uint64 {
		t.Helper()
		seq, err := eventlog.AppendSetting(ctx, l.Log, name, []byte(value), after)
		if err != nil {
			t.Fatalf("set %s to %s behind %d: %v", name, value, after, err)
		}
		return seq
	}
	first := set("one", "1", 0)                    // 1
	set("one", "2", first)                         // 2, lost
	set("other", "x", 0)                           // 3
	l.command(t, "delete", "a")                    // 4
	l.command(t, "delete", "b")                    // 5, lost
	l.command(t, "delete", "c")                    // 6
	for _, name := range []string{"7", "8", "9"} { // 8 is lost
		if _, err := eventlog.AppendSignIn(ctx, l.Log, eventlog.SignInOutcome, name); err != nil {
			t.Fatal(err)
		}
	}
	l.damageFact(t, 2, 5, 8)

	setting, found, err := eventlog.LastSetting(ctx, l.Log, "one")
	if err != nil || !found || string(setting.Data) != "1" {
		t.Fatalf("the setting is %q (%v, %v), want the value before the lost one", setting.Data, found, err)
	}
	seen := map[string]string{}
	follow, stop := context.WithCancel(ctx)
	err = eventlog.FollowSettings(follow, l.Log, func(s eventlog.Setting) {
		seen[s.Name] = string(s.Data)
		stop()
	})
	stop()
	if seen["other"] != "x" { // that of "one" is what LastSetting says
		t.Errorf("followers of settings saw %v (%v)", seen, err)
	}
	set("one", "3", setting.Sequence)
	if setting, _, err = eventlog.LastSetting(ctx, l.Log, "one"); err != nil || string(setting.Data) != "3" {
		t.Errorf("after it was set again it is %q, %v", setting.Data, err)
	}

	list, _, err := eventlog.CommandsBetween(ctx, l.Log, 0, 9, 10)
	if err != nil || len(list) != 2 || list[0].Sequence != 4 || list[1].Sequence != 6 {
		t.Errorf("commands: %v, %v", list, err)
	}
	changes, err := eventlog.NewChangesReader(ctx, l.Log, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer changes.Close()
	for _, want := range []uint64{1, 3, 4, 6, 10} {
		if f, err := changes.Next(ctx); err != nil || f.Sequence != want {
			t.Fatalf("the next change is %d, %v, want %d", f.Sequence, err, want)
		}
	}
	outcomes, err := eventlog.NewOutcomesReader(ctx, l.Log, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer outcomes.Close()
	for _, want := range []uint64{7, 9} {
		if f, err := outcomes.Next(ctx); err != nil || f.Sequence != want {
			t.Fatalf("the next outcome is %d, %v, want %d", f.Sequence, err, want)
		}
	}
}

// command appends a command without waiting for its answer.
func (l logEnv) command(t *testing.T, name, body string) {
	t.Helper()
	c, err := eventlog.NewCommander(eventlog.CommanderConfig{Log: l.Log, Answers: storedAnswers{answer: json.RawMessage("{}"), checkpoint: 1 << 40}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Do(t.Context(), name, body); err != nil {
		t.Fatal(err)
	}
}

// TestAlteredFactIsAGap: a fact with a wrong checksum is not used, although the
// server delivers it.
func TestAlteredFactIsAGap(t *testing.T) {
	l := newLog(t)
	l.command(t, "delete", "a")
	in, err := l.Log.JetStream.Stream(t.Context(), l.Stream)
	if err != nil {
		t.Fatal(err)
	}
	m, err := in.GetMsg(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	m.Header.Del(jetstream.MsgIDHeader)
	if _, err := l.Log.JetStream.PublishMsg(t.Context(), &nats.Msg{Subject: m.Subject, Header: m.Header, Data: []byte(`"b"`)}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), gapPatience)
	defer cancel()
	report, err := eventlog.Verify(ctx, l.Log, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(report.Gaps); len(report.Gaps) != 1 || report.Gaps[0].From != 2 || report.Gaps[0].Why != eventlog.GapUnreadable {
		t.Errorf("gaps: %s", got)
	}
}
