package main

import (
	"testing"
	"time"

	errata "github.com/errata-log/errata"
)

// TestCorpusKeepsItsWord folds the events of a corpus by hand: the rows of the
// bench expect exactly these records.
func TestCorpusKeepsItsWord(t *testing.T) {
	c := newCorpus(5000)
	type seen struct {
		count int
		last  time.Time
	}
	records := map[errata.Signature]seen{}
	ids := map[errata.EventID]bool{}
	for i := range c.n {
		events := c.appendSightings(nil, i)
		if c.late(i) {
			events = append(events, c.again(i, c.sightings(i)-1, c.event(i)))
		}
		for _, e := range events {
			ids[e.ID] = true
			r := records[e.Signature]
			r.count++
			if e.Time.After(r.last) {
				r.last = e.Time
			}
			records[e.Signature] = r
		}
		if got := records[c.signature(i)]; got.count != c.sightings(i) || !got.last.Equal(c.last(i)) {
			t.Fatalf("problem %d: seen %+v, want %d times, last at %v", i, got, c.sightings(i), c.last(i))
		}
	}
	before, upTo := c.median()
	events, old := 0, 0
	for _, r := range records {
		events += r.count
		if !r.last.After(before) {
			old++
		}
	}
	if len(records) != c.n || len(ids) != events || old != upTo || old < c.n/2 || old > c.n/2+1 {
		t.Errorf("%d records of %d events with %d ids, %d of them up to %v, want %d", len(records), events, len(ids), old, before, upTo)
	}
}

func TestSizesAreRead(t *testing.T) {
	for text, want := range map[string]int{"1": 1, "250000": 250_000, "100k": 100_000, " 1M": 1_000_000, "100M": maxSize} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "k", "1.5M", "101M", "99999999999999999999", "1m"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q: %d, want an error", text, got)
		}
	}
	for _, n := range []int{1, 999, 10_000, 1_500_000, 10_000_000} {
		if got, err := parseSize(sizeName(n)); err != nil || got != n {
			t.Errorf("%s: %d, %v, want %d", sizeName(n), got, err, n)
		}
	}
}
