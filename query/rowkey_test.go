package query_test

import (
	"math"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/testenv"
)

// TestRowKey holds that the column row_key is what it is made of, at the least
// and the most that a row can hold: the lists take both for the same.
func TestRowKey(t *testing.T) {
	env := testenv.New(t)
	batch, err := testenv.NewRecordBatch(t.Context(), env.ClickHouse)
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Close()
	times := []time.Time{
		time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC), time.UnixMilli(-1).UTC(), time.UnixMilli(0).UTC(),
		time.Date(2026, 11, 22, 9, 8, 7, 654e6, time.UTC), time.Date(2262, 1, 1, 23, 59, 59, 999e6, time.UTC),
	}
	rows := 0
	for i, at := range times {
		for _, n := range []uint64{1, 1 << 40, math.MaxUint64} {
			for _, sign := range []int8{1, -1} {
				r := errata.Record{
					Book: errata.BookSystem, Signature: errata.Signature{byte(i), byte(rows)}, ID: errata.Position(n), Version: errata.Position(n - 1),
					Count: 1, FirstSeen: at, LastSeen: at, Level: errata.LevelError, Status: errata.StatusOpen,
				}
				if err := batch.Add(r.Book.String(), r, "", sign); err != nil {
					t.Fatal(err)
				}
				rows++
			}
		}
	}
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
	const equal = `SELECT count() FROM records WHERE book > 'checkpoint'
		AND reinterpretAsInt64(substring(row_key, 1, 8)) = toUnixTimestamp64Milli(last_seen)
		AND reinterpretAsUInt64(substring(row_key, 9, 8)) = id
		AND reinterpretAsUInt64(substring(row_key, 17, 8)) = version
		AND reinterpretAsInt8(substring(row_key, 25, 1)) = sign`
	var got uint64
	if err := env.ClickHouse.QueryRow(t.Context(), equal).Scan(&got); err != nil {
		t.Fatal(err)
	}
	if got != uint64(rows) {
		t.Errorf("%d of %d rows have the key that they are made of", got, rows)
	}
}
