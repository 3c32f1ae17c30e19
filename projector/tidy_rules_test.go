package projector

import (
	"math"
	"testing"
	"time"
)

const never = time.Duration(math.MaxInt64)

func TestWorthTidying(t *testing.T) {
	const million = 1_000_000
	idle, busy := moment{idle: time.Minute, since: never}, moment{since: never}
	for _, c := range []struct {
		name  string
		parts tableParts
		now   moment
		want  bool
	}{
		{"one whole part", tableParts{parts: 1, rows: 10, largest: 10, age: never}, idle, false},
		{"one part without a projection", tableParts{parts: 1, rows: 10, largest: 10, bare: 1}, idle, true},
		{"no part", tableParts{}, idle, false},
		{"after a load", tableParts{parts: 8, rows: million, largest: 600_000}, idle, true},
		{"after a load, being merged", tableParts{parts: 8, rows: million, largest: 600_000, merging: true}, idle, false},
		{"in a load", tableParts{parts: 8, rows: million, largest: 600_000}, busy, false},
		{"5 % outside", tableParts{parts: 2, rows: million, largest: 950_000}, idle, true},
		{"less outside", tableParts{parts: 2, rows: million, largest: 950_001}, idle, false},
		{"a small table", tableParts{parts: 2, rows: 90_000, largest: 89_999}, idle, true},
		{"a small table, twice", tableParts{parts: 2, rows: 90_000, largest: 89_999}, moment{idle: time.Minute, since: 9 * time.Minute}, false},
		{"a small table, later", tableParts{parts: 2, rows: 90_000, largest: 89_999}, moment{idle: time.Minute, since: 10 * time.Minute}, true},
		{"an old part without a projection", tableParts{parts: 2, rows: million, largest: million - 1, bare: 1}, idle, true},
		{"many parts of few rows", tableParts{parts: 13, rows: million, largest: million - 12, age: 23 * time.Hour}, idle, false},
		{"many parts of few rows, a day", tableParts{parts: 13, rows: million, largest: million - 12, age: 24 * time.Hour}, idle, true},
		{"few parts of few rows, a day", tableParts{parts: 4, rows: million, largest: million - 3, age: 24 * time.Hour}, idle, false},
		{"resting", tableParts{parts: 8, rows: million, largest: 600_000}, moment{idle: time.Minute, since: time.Minute, rest: 2 * time.Minute}, false},
		{"busy, 10 % outside", tableParts{parts: 8, rows: million, largest: 900_000, age: time.Hour}, busy, true},
		{"busy, less outside", tableParts{parts: 8, rows: million, largest: 900_001, age: time.Hour}, busy, false},
		{"busy, tidied within the hour", tableParts{parts: 8, rows: million, largest: 900_000, age: time.Hour}, moment{since: 59 * time.Minute}, false},
		{"busy, tidied by another node", tableParts{parts: 8, rows: million, largest: 900_000, age: 59 * time.Minute}, busy, false},
		{"deleted rows", tableParts{parts: 1, rows: million, largest: million, masked: 1, age: 23 * time.Hour}, idle, false},
		{"deleted rows, a day", tableParts{parts: 1, rows: million, largest: million, masked: 1, age: 24 * time.Hour}, idle, true},
		{"deleted rows, a day, busy", tableParts{parts: 1, rows: million, largest: million, masked: 1, age: 24 * time.Hour}, busy, true},
		{"busy, without a projection", tableParts{parts: 2, rows: million, largest: million - 1, bare: 1, age: time.Hour}, busy, true},
	} {
		if got := worthTidying(c.parts, c.now); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// world is a table over time: batches that change records at a pace, a
// ClickHouse that leaves every row of them outside the largest part, and a
// processor that tidies tidyRate rows a second.
type world struct {
	rows, batch uint64
	every       time.Duration
}

// tidyRate is rows a second, measured: a million in 12 s.
const tidyRate = 80_000

// live lets the time go by and tells what the tidies wrote, how long they took,
// the longest of them, and how much came in.
func (w world) live(span time.Duration) (tidies int, written, came uint64, took, longest time.Duration) {
	table := tableParts{parts: 1, rows: w.rows, largest: w.rows}
	var folded, largest time.Duration // when a batch came, and the largest part
	now, tried := time.Duration(0), -never
	rest := time.Duration(0)
	for ; now < span; now += tidyTick {
		for folded+w.every <= now {
			folded += w.every
			table.rows, came = table.rows+w.batch, came+w.batch
			table.parts = min(table.parts+1, 13)
		}
		table.age = now - largest
		at := moment{idle: now - folded, since: never, rest: rest}
		if tidies > 0 {
			at.since = now - tried
		}
		if !worthTidying(table, at) {
			continue
		}
		cost := time.Duration(table.rows) * time.Second / tidyRate
		tidies, written, took, longest = tidies+1, written+table.rows, took+cost, max(longest, cost)
		table.parts, table.rows, table.largest = 1, w.rows, w.rows // the old states collapse
		now += cost
		largest, tried, rest = now, now, restFactor*cost
	}
	return tidies, written, came, took, longest
}

// TestTidiesAreBounded: whatever comes in at whatever pace, tidies write no
// more than they may.
func TestTidiesAreBounded(t *testing.T) {
	const days = 3
	for _, c := range []struct {
		name string
		world
		most int // tidies in a day
	}{
		{"one event a minute on ten million", world{rows: 10_000_000, batch: 2, every: time.Minute}, 1},
		{"one event a minute on a million", world{rows: 1_000_000, batch: 2, every: time.Minute}, 1},
		{"one event a minute on a small table", world{rows: 50_000, batch: 2, every: time.Minute}, 24 * 6},
		{"ten batches a second on ten million", world{rows: 10_000_000, batch: 2000, every: 100 * time.Millisecond}, 24},
		{"a burst a minute on a million", world{rows: 1_000_000, batch: 50_000, every: time.Minute}, 24 * 15},
		{"a burst a minute on ten million", world{rows: 10_000_000, batch: 500_000, every: time.Minute}, 36},
	} {
		tidies, written, came, took, longest := c.live(days * 24 * time.Hour)
		t.Logf("%s: %d tidies wrote %d rows for %d that came and took %s", c.name, tidies, written, came, took)
		if tidies > days*c.most {
			t.Errorf("%s: %d tidies in %d days, want %d a day at most", c.name, tidies, days, c.most)
		}
		// Before the first one was no rest.
		if took > days*24*time.Hour/restFactor+longest {
			t.Errorf("%s: tidies took %s of %d days", c.name, took, days)
		}
		if tidies == 0 && came > c.rows/busyPercent {
			t.Errorf("%s: %d rows came and were never tidied", c.name, came)
		}
	}
}
