package eventlog_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// TestPurgeIsNoGap: facts that were purged after a snapshot are no gap, also when
// they go during the check; facts that go without a snapshot are one.
func TestPurgeIsNoGap(t *testing.T) {
	l := newLog(t)
	if report, err := eventlog.Verify(t.Context(), l.Log, nil); err != nil || len(report.Gaps) != 0 || report.Last != 0 {
		t.Fatalf("an empty log: %+v, %v", report, err)
	}
	a := l.appender(t)
	for i := range 20 {
		if err := a.Append(t.Context(), []errata.Event{event(fmt.Sprint(i))}); err != nil {
			t.Fatal(err)
		}
	}
	body, err := json.Marshal(eventlog.Snapshot{Keep: 11})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Log.JetStream.Publish(t.Context(), l.Prefix+"cmd.snapshot", body); err != nil {
		t.Fatal(err)
	}
	facts := 0
	report, err := eventlog.Verify(t.Context(), l.Log, func() error {
		if facts++; facts == 1 {
			return eventlog.Purge(t.Context(), l.Log, 11)
		}
		return nil
	})
	if err != nil || len(report.Gaps) != 0 {
		t.Fatalf("purged while it was read: %+v, %v", report, err)
	}
	if report, err = eventlog.Verify(t.Context(), l.Log, nil); err != nil || report.First != 11 || report.Facts != 11 || len(report.Gaps) != 0 {
		t.Errorf("after the purge: %+v, %v", report, err)
	}
	for sequence, want := range map[uint64]bool{10: true, 11: false, 21: false} {
		if got, err := eventlog.Purged(t.Context(), l.Log, sequence); err != nil || got != want {
			t.Errorf("fact %d: purged %v, want %v (%v)", sequence, got, want, err)
		}
	}
	s, err := l.Log.JetStream.Stream(t.Context(), l.Stream)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Purge(t.Context(), jetstream.WithPurgeSequence(14)); err != nil { // without a snapshot
		t.Fatal(err)
	}
	report, err = eventlog.Verify(t.Context(), l.Log, nil)
	if err != nil || len(report.Gaps) != 1 || report.Gaps[0].From != 11 || report.Gaps[0].To != 13 || report.Gaps[0].Events.Most < 3 {
		t.Errorf("after more was taken away: %+v, %v", report, err)
	}
}
