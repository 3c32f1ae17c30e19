package projector_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/errata-log/errata/projector"
)

// A projection of a version without totals gets them from its tables once; from
// then on they are in its checkpoint.
func TestTotalsAreTakenOnce(t *testing.T) {
	l := newLedger(t)
	_, stop := l.start()
	l.append(event("a", "a 1"), event("b", "b 1"), event("b", "b 2"))
	l.barrier()
	stop()
	l.forgetTotals()
	store := projector.NewStore(l.ClickHouse, 0)
	if cp, _, err := store.Count(t.Context(), projector.CountOptions{}); err != nil || cp.Totals.Known {
		t.Fatalf("the checkpoint of before says %+v, %v", cp.Totals, err)
	}
	l.start()
	l.append(event("c", "c 1"), event("b", "b 3"))
	l.barrier()
	want := projector.Totals{Known: true, System: projector.BookTotals{Records: 3, Count: 5}}
	cp, have, err := store.Count(t.Context(), projector.CountOptions{})
	if err != nil || cp.Totals != want || have != want {
		t.Errorf("the checkpoint says %+v, the table %+v (%v), want %+v", cp.Totals, have, err, want)
	}
}

// forgetTotals removes the totals from the checkpoint, as in an older version.
func (l *ledger) forgetTotals() {
	l.t.Helper()
	const columns = `book, signature, id, version, count, first_seen, last_seen, level, file, line, message_preview,
		exception_class, request_uri, request_method, user_id, ip, status, regressed, `
	err := l.ClickHouse.Exec(l.t.Context(), `INSERT INTO records (`+columns+` checkpoint, sign)
		SELECT `+strings.Replace(columns, "version", "version + (role > 0) AS version", 1)+`
			if(role > 0, replaceRegexpOne(checkpoint, '"totals":\\{.*?\\}\\}', '"was":0'), checkpoint) AS checkpoint, if(role > 0, 1, -1) AS sign
		FROM (SELECT * FROM records FINAL WHERE book = 'checkpoint' AND signature = toFixedString('', 16)) ARRAY JOIN [0, 1] AS role`)
	if err != nil {
		l.t.Fatal(err)
	}
}

// Lost rows are noticed: the totals of the table then differ from those of the
// checkpoint, in both ways of counting.
func TestTotalsDiffer(t *testing.T) {
	l := newLedger(t)
	_, stop := l.start()
	for n := range 3 {
		l.append(event(fmt.Sprint("problem ", n), fmt.Sprint(n)), event("often", fmt.Sprint("often ", n)))
		l.barrier()
	}
	stop()
	store := projector.NewStore(l.ClickHouse, 0)
	if cp, have, err := store.Count(t.Context(), projector.CountOptions{}); err != nil || cp.Totals.Difference(have) != "" {
		t.Fatalf("nothing is missing, and it says %q, %v", cp.Totals.Difference(have), err)
	}
	if err := l.ClickHouse.Exec(t.Context(), "DELETE FROM records WHERE message_preview = 'problem 1'"); err != nil {
		t.Fatal(err)
	}
	for _, primary := range []bool{false, true} {
		cp, have, err := store.Count(t.Context(), projector.CountOptions{Primary: primary})
		if err != nil {
			t.Fatal(err)
		}
		if got := cp.Totals.Difference(have); !strings.Contains(got, "4 records that count 6, the table holds 3 that count 5") {
			t.Errorf("a record is missing, and it says %q", got)
		}
	}
}
