package projector_test

import (
	"testing"

	"github.com/errata-log/errata/projector"
)

// TestReceipt: the server says of an insert that it has written it. When another insert had the
// token before, it does not, also when that had other rows, and has not written it.
func TestReceipt(t *testing.T) {
	l := newLedger(t)
	store := projector.NewStore(l.ClickHouse, 0)
	from := projector.Checkpoint{Log: 1}
	inserts := map[string]func(to uint64, salt int) (bool, error){
		"records": func(to uint64, salt int) (bool, error) { return projector.Step(t.Context(), store, from, to, salt) },
		"hourly":  func(to uint64, salt int) (bool, error) { return projector.RollUp(t.Context(), store, 0, to, salt) },
	}
	for table, insert := range inserts {
		for _, try := range []struct {
			to      uint64
			salt    int
			written bool
		}{{to: 9, written: true}, {to: 9}, {to: 10}, {to: 11, salt: 1, written: true}} {
			written, err := insert(try.to, try.salt)
			if err != nil {
				t.Fatal(err)
			}
			if written != try.written {
				t.Errorf("%s up to %d, salt %d: the server says it wrote them: %t, want %t", table, try.to, try.salt, written, try.written)
			}
		}
		var rows uint64
		if err := l.ClickHouse.QueryRow(t.Context(), "SELECT count() FROM "+l.Database+"."+table+" WHERE book = 'checkpoint'").Scan(&rows); err != nil {
			t.Fatal(err)
		}
		if rows != 2 {
			t.Errorf("%s has the rows of %d inserts, want 2", table, rows)
		}
	}
}
