package ingest_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
)

// TestAdjustedTimes: the receipt tells which drafts got the time of receipt, and why,
// and a metric counts them. A draft that is refused or names no time is not among them.
func TestAdjustedTimes(t *testing.T) {
	sent := func(text string) (d ingest.Draft) {
		d.Message = "m"
		d.SetTime(text)
		return d
	}
	at := func(when time.Time) ingest.Draft { return ingest.Draft{Message: "m", Time: when} }
	drifted := at(received.Add(-40 * 24 * time.Hour))
	drifted.SentAt = drifted.Time
	refused := at(received.Add(time.Hour))
	refused.Message = ""
	for _, c := range []struct {
		name   string
		draft  ingest.Draft
		reason ingest.Reason
	}{
		{"none", sent(""), ""},
		{"believed", at(received.Add(-time.Hour)), ""},
		{"40 days old", at(received.Add(-40 * 24 * time.Hour)), ""},
		{"the first of 2001", sent("2001-01-01T00:00:00Z"), ""},
		{"a clock that began with 2000", sent("2000-12-31T23:59:59.999Z"), ingest.TimeTooOld},
		{"now", at(received), ""},
		{"a millisecond ahead", at(received.Add(time.Millisecond)), ingest.TimeInFuture},
		{"no time", sent("soon"), ingest.TimeUnreadable},
		{"blank", sent(" "), ingest.TimeUnreadable},
		{"the year 1", sent("0001-01-01T00:00:00Z"), ingest.TimeTooOld},
		{"1970", sent("0"), ingest.TimeTooOld},
		{"seconds since the start of a machine", sent("86400.5"), ingest.TimeTooOld},
		{"read", sent("2026-11-21T03:19:59Z"), ""},
		{"a slow clock that says so", drifted, ""},
		{"refused", refused, ""},
	} {
		log, registry := &memoryLog{}, prometheus.NewRegistry()
		other := ingest.Draft{Message: "before it"}
		receipt, err := newPipeline(t, log, registry).Accept(t.Context(), ingest.Source{Received: received}, []ingest.Draft{other, c.draft})
		if err != nil {
			t.Fatal(err)
		}
		var want []ingest.Adjustment
		counted := map[string]float64{}
		if c.reason != "" {
			want = []ingest.Adjustment{{Index: 1, Field: ingest.FieldTime, Reason: c.reason}}
			counted["errata_events_adjusted_total "+string(c.reason)] = 1
		}
		if !slices.Equal(receipt.Adjusted, want) {
			t.Errorf("%s: %v, want %v", c.name, receipt.Adjusted, want)
		}
		got := counters(t, registry)
		maps.DeleteFunc(got, func(name string, _ float64) bool { return !strings.Contains(name, "adjusted") })
		if !maps.Equal(got, counted) {
			t.Errorf("%s: counters %v, want %v", c.name, got, counted)
		}
		if e := log.events[len(log.events)-1]; c.reason != "" && !e.Time.Equal(received.Truncate(time.Millisecond)) {
			t.Errorf("%s: the event has the time %v", c.name, e.Time)
		}
	}
}

// The clock of a client is corrected by whole seconds, and only where the network cannot
// explain the difference.
func TestDriftOfAClock(t *testing.T) {
	const happened = 7 * time.Millisecond // before it was sent
	for _, c := range []struct{ behind, network, want time.Duration }{
		{0, 20 * time.Millisecond, 20 * time.Millisecond}, // as the client said
		{0, 59 * time.Second, 59 * time.Second},
		{0, -59 * time.Second, 0}, // ahead of the receipt
		{time.Hour, 20 * time.Millisecond, 20 * time.Millisecond},
		{time.Hour, 999 * time.Millisecond, 999 * time.Millisecond},
		{-time.Hour, 20 * time.Millisecond, 20 * time.Millisecond},
		{-365 * 24 * time.Hour, 300 * time.Millisecond, 300 * time.Millisecond},
		{time.Minute, 0, 0},
	} {
		at := received.Truncate(time.Millisecond)
		sent := at.Add(-c.network - c.behind)
		e := eventAt(t, ingest.Draft{Message: "m", Time: sent.Add(-happened), SentAt: sent}, at)
		want := at.Add(-c.want - happened)
		if c.network < 0 {
			want = at
		}
		if !e.Time.Equal(want) {
			t.Errorf("a clock %v behind and %v for the network: %v before the receipt, want %v", c.behind, c.network, at.Sub(e.Time), at.Sub(want))
		}
	}
}

func eventAt(t *testing.T, d ingest.Draft, at time.Time) errata.Event {
	t.Helper()
	var rules ingest.Rules
	e, refused := rules.Event(&d, ingest.Source{Project: 1, Received: at}, errata.EventID{1})
	if refused != nil {
		t.Fatal(refused)
	}
	return e
}

// TestTimesWithinRetention: the time of an event is believed for as long as its project
// keeps records, whichever receiver took it. A change counts from the next request on.
func TestTimesWithinRetention(t *testing.T) {
	log := &memoryLog{}
	days := map[uint64]int{7: 90, 9: 36_500}
	p, err := ingest.New(ingest.Config{Log: log, Random: seeded(), RetentionDays: func(project uint64) int { return days[project] }})
	if err != nil {
		t.Fatal(err)
	}
	const day = 24 * time.Hour
	now := received.Truncate(time.Millisecond)
	for _, c := range []struct {
		project uint64
		days    int
		at      time.Time
		reason  ingest.Reason
	}{
		{7, 90, now.Add(-90 * day), ""},
		{7, 90, now.Add(-90*day - time.Millisecond), ingest.TimeTooOld},
		{7, 7, now.Add(-7 * day), ""},
		{7, 7, now.Add(-8 * day), ingest.TimeTooOld},
		{7, 0, now.AddDate(-9, 0, 0), ""}, // for ever
		{8, 90, now.AddDate(-9, 0, 0), ""},
		{9, 90, time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC), ""},
		{9, 90, time.Date(2000, 12, 31, 0, 0, 0, 0, time.UTC), ingest.TimeTooOld}, // though a century is kept
	} {
		days[7] = c.days
		receipt, err := p.Accept(t.Context(), ingest.Source{Project: c.project, Received: received}, []ingest.Draft{{Message: "m", Time: c.at}})
		if err != nil {
			t.Fatal(err)
		}
		want := c.at
		var reasons []ingest.Reason
		if c.reason != "" {
			want, reasons = now, []ingest.Reason{c.reason}
		}
		var got []ingest.Reason
		for _, a := range receipt.Adjusted {
			got = append(got, a.Reason)
		}
		if at := log.events[len(log.events)-1].Time; !at.Equal(want) || !slices.Equal(got, reasons) {
			t.Errorf("project %d, %d days, %v: %v %v, want %v %v", c.project, c.days, c.at, at, got, want, reasons)
		}
	}
}
