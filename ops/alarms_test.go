package ops

import (
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
)

func TestAlarms(t *testing.T) {
	now := time.Date(2026, 11, 23, 2, 0, 0, 0, time.UTC)
	began := now
	registry := prometheus.NewRegistry()
	a, err := NewAlarms(registry, func() time.Time { return now }, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Raise("parts-broken", "1 part", "wait")
	now = now.Add(time.Minute)
	a.Raise("log-gap", "facts 3 to 4", "errata log verify")
	a.Raise("parts-broken", "2 parts", "wait")
	want := []errata.Alarm{
		{Name: "log-gap", Detail: "facts 3 to 4", Hint: "errata log verify", Since: errata.Instant(now)},
		{Name: "parts-broken", Detail: "2 parts", Hint: "wait", Since: errata.Instant(began)},
	}
	got := a.List()
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := gauges(t, registry), []string{"log-gap", "parts-broken"}; !slices.Equal(got, want) {
		t.Errorf("errata_alarm is 1 for %v, want %v", got, want)
	}

	a.Clear("parts-broken")
	a.Clear("never raised")
	now = now.Add(time.Minute)
	a.Raise("log-gap", "facts 3 to 4", "errata log verify")
	if got := a.List(); len(got) != 1 || got[0] != want[0] {
		t.Errorf("after one was cleared: got %v, want %v", got, want[:1])
	}
	a.Clear("log-gap")
	if left := gauges(t, registry); len(left) != 0 || len(a.List()) != 0 {
		t.Errorf("after all were cleared: metrics of %v, alarms %v; want none", left, a.List())
	}
}

// gauges are the names of the alarms that the metric shows.
func gauges(t *testing.T, registry *prometheus.Registry) (names []string) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if family.GetName() == "errata_alarm" && metric.GetGauge().GetValue() == 1 {
				names = append(names, metric.GetLabel()[0].GetValue())
			}
		}
	}
	return names
}
