package ingest_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

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
		{"30 days old", at(received.Add(-30 * 24 * time.Hour)), ""},
		{"older than 30 days", at(received.Add(-30*24*time.Hour - time.Millisecond)), ingest.TimeTooOld},
		{"now", at(received), ""},
		{"a millisecond ahead", at(received.Add(time.Millisecond)), ingest.TimeInFuture},
		{"no time", sent("soon"), ingest.TimeUnreadable},
		{"blank", sent(" "), ingest.TimeUnreadable},
		{"the year 1", sent("0001-01-01T00:00:00Z"), ingest.TimeTooOld},
		{"1970", sent("0"), ingest.TimeTooOld},
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
