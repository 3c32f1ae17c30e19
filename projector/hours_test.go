package projector

import (
	"math/rand/v2"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
)

// TestHoursOfManyYears: a record whose events are spread over many years has each of them
// in its hour, also when two stretches are merged, and the fold of it is not slower by the
// number of the hours: a search through all of them for each event would take a minute.
func TestHoursOfManyYears(t *testing.T) {
	const events, soon = 250_000, 5 * time.Second
	random := rand.New(rand.NewPCG(1, 2))
	began := time.Now()
	want := map[hourCount]uint64{}
	var stretches [2]delta
	for i := range events {
		at := hourCount{hour: random.Int64N(lastHour), level: errata.Level(1 + i%7)}
		if i%10 == 0 {
			at.hour %= 20 // some are seen again
		}
		want[at]++
		at.count = 1
		stretches[i%2].hours.add(at)
	}
	whole := &stretches[0]
	whole.merge(&stretches[1])
	if took := time.Since(began); took > soon {
		t.Errorf("%d events took %v", events, took)
	}
	got := map[hourCount]uint64{}
	for _, h := range whole.hours.list {
		got[hourCount{hour: h.hour, level: h.level}] += h.count
	}
	if len(whole.hours.list) != len(want) {
		t.Errorf("%d hours, want %d", len(whole.hours.list), len(want))
	}
	for at, n := range want {
		if got[at] != n {
			t.Fatalf("%+v: %d, want %d", at, got[at], n)
		}
	}
}
