package app

import (
	"testing"
	"time"
)

func TestArrivals(t *testing.T) {
	var a arrivals
	at := time.Unix(1_800_000_000, 0)
	expect := func(now time.Time, want float64) {
		t.Helper()
		if got := a.perSecond(now); got != want {
			t.Errorf("%v later: %v a second, want %v", now.Sub(at), got, want)
		}
	}
	expect(at, 0)
	a.add(at, 60)
	a.add(at.Add(900*time.Millisecond), 60)
	expect(at.Add(999*time.Millisecond), 0) // the second has not ended
	expect(at.Add(time.Second), 2)
	a.add(at.Add(time.Second), 6000)
	expect(at.Add(60*time.Second), 102)
	expect(at.Add(61*time.Second), 100)
	expect(at.Add(62*time.Second), 0)
	a.add(at.Add(61*time.Second), 30) // in the slot of the first
	expect(at.Add(62*time.Second), 0.5)
}
