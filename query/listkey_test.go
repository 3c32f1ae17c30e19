package query_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/test/testenv"
)

// TestListKey holds that the column list_key is what it is made of, at the least
// and the most that a row can hold: the lists take both for the same.
func TestListKey(t *testing.T) {
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
	const number = "bitNot(reinterpretAsUInt64(reverse(substring(list_key, %d, 8))))"
	equal := `SELECT count() FROM records WHERE book > 'checkpoint'
		AND bitXor(` + fmt.Sprintf(number, 1) + `, 9223372036854775808) = reinterpretAsUInt64(toUnixTimestamp64Milli(last_seen))
		AND ` + fmt.Sprintf(number, 9) + ` = id
		AND ` + fmt.Sprintf(number, 17) + ` = version
		AND reinterpretAsUInt8(substring(list_key, 25, 1)) = sign + 1
		AND substring(list_key, 26, 16) = signature
		AND reinterpretAsUInt8(substring(list_key, 42, 1)) = toUInt8(book)`
	var got uint64
	if err := env.ClickHouse.QueryRow(t.Context(), equal).Scan(&got); err != nil {
		t.Fatal(err)
	}
	if got != uint64(rows) {
		t.Errorf("%d of %d rows have the key that they are made of", got, rows)
	}
	// A list of everything, the newest first, is the table by its keys.
	const sorted = `SELECT count() FROM (
		SELECT list_key, lagInFrame(list_key) OVER (ORDER BY last_seen DESC, id DESC, version DESC, sign ASC, signature ASC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before
		FROM records WHERE book > 'checkpoint') WHERE before < list_key`
	if err := env.ClickHouse.QueryRow(t.Context(), sorted).Scan(&got); err != nil {
		t.Fatal(err)
	}
	if got != uint64(rows) {
		t.Errorf("%d of %d rows come behind the row before them", got, rows)
	}
}
