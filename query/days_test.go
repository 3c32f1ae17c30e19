package query

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/test/testenv"
)

// TestWholeDays holds that the days lie in the range, and that less than a day is
// left at either end.
func TestWholeDays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := anyRange(t)
		first, after, ok := f.wholeDays()
		if !ok {
			if open := f.From.IsZero() || f.To.IsZero(); !open && clamped(f.To).Sub(clamped(f.From)) >= 2*day {
				t.Fatalf("no whole day in %v to %v", f.From, f.To)
			}
			return
		}
		if first.IsZero() != f.From.IsZero() || after.IsZero() != f.To.IsZero() {
			t.Fatalf("%v to %v is %v to %v: other ends are open", f.From, f.To, first, after)
		}
		if !first.IsZero() {
			if left := first.Sub(clamped(f.From)); !first.Equal(first.Truncate(day)) || left < 0 || left >= day {
				t.Fatalf("%v begins with the day %v", f.From, first)
			}
		}
		if !after.IsZero() {
			if left := clamped(f.To).Add(time.Millisecond).Sub(after); !after.Equal(after.Truncate(day)) || left < 0 || left >= day {
				t.Fatalf("%v ends before the day %v", f.To, after)
			}
		}
	})
}

// loadEnd is the newest sighting of testdata/load.sql, a midnight.
var loadEnd = time.UnixMilli(1_795_219_200_000).UTC()

// anyRange draws a range of times that ends no sooner than it begins, often at
// midnight or a millisecond beside it.
func anyRange(t *rapid.T) Filter {
	end := func(name string) time.Time {
		switch rapid.IntRange(0, 6).Draw(t, name) {
		case 0:
			return time.Time{}
		case 1:
			return rapid.SampledFrom([]time.Time{
				time.Date(1583, 1, 1, 0, 0, 0, 0, time.UTC), firstStorable, time.UnixMilli(0).UTC(), time.Date(2149, 6, 7, 0, 0, 0, 0, time.UTC),
				lastStorable, time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
			}).Draw(t, name+" far away")
		}
		at := loadEnd.Add(-time.Duration(rapid.IntRange(-2, 92).Draw(t, name+" days ago")) * day)
		return at.Add(time.Duration(rapid.OneOf(rapid.IntRange(-1, 1), rapid.IntRange(0, int(day/time.Millisecond))).Draw(t, name+" ms")) * time.Millisecond)
	}
	f := Filter{From: end("from"), To: end("to")}
	if !f.From.IsZero() && !f.To.IsZero() && f.To.Before(f.From) {
		f.From, f.To = f.To, f.From
	}
	return f
}

// TestTotalByDay holds that a range has the same total by its whole days and by its
// rows, cancelled ones and those of the ends of time included.
func TestTotalByDay(t *testing.T) {
	env := testenv.New(t)
	load(t, env.ClickHouse, 5000)
	batch, err := testenv.NewRecordBatch(t.Context(), env.ClickHouse)
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Close()
	for i, at := range []time.Time{firstStorable, time.UnixMilli(-1), time.UnixMilli(0), time.Date(2149, 6, 7, 12, 0, 0, 0, time.UTC), time.Date(2262, 1, 1, 23, 59, 59, 999e6, time.UTC)} {
		r := errata.Record{
			Book: errata.BookSystem, Signature: errata.Signature{1, byte(i)}, ID: errata.Position(i + 1), Version: errata.Position(i + 1),
			Count: 1, FirstSeen: at, LastSeen: at, Level: errata.LevelError, Status: errata.StatusOpen,
		}
		if err := batch.Add(r.Book.String(), r, "", 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
	reader, ctx := New(Config{ClickHouse: env.ReadOnlyClickHouse}), t.Context()
	counted := func(t *rapid.T, q statement, err error) (total int64, raw uint64) {
		if err == nil {
			err = reader.queryRow(ctx, q).Scan(&total, &raw)
		}
		if err != nil {
			t.Fatal(err)
		}
		return total, raw
	}
	rapid.Check(t, func(t *rapid.T) {
		f := anyRange(t)
		if rapid.Bool().Draw(t, "and a level") {
			f.Levels = []errata.Level{errata.LevelFatal, errata.LevelError}
		}
		if !f.countedByDay() {
			t.Skip("no whole day")
		}
		q, err := totalByDay(f)
		total, raw := counted(t, q, err)
		q, err = build("total.sql", statementData{}, f.fragments(), nil)
		wantTotal, wantRaw := counted(t, q, err)
		if total != wantTotal || raw != wantRaw {
			t.Fatalf("%v to %v: total %d of %d rows, want %d of %d", f.From, f.To, total, raw, wantTotal, wantRaw)
		}
	})
}
