package projector_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// granulesWith returns the granules of records that the search index leaves for a
// text.
func (l *ledger) granulesWith(text string) (granules string) {
	l.t.Helper()
	rows, err := l.ClickHouse.Query(l.t.Context(), "EXPLAIN indexes = 1 SELECT count() FROM records WHERE texts LIKE {text:String}", clickhouse.Named("text", "%"+text+"%"))
	if err != nil {
		l.t.Fatal(err)
	}
	defer rows.Close()
	inIndex := false
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			l.t.Fatal(err)
		}
		inIndex = inIndex || strings.Contains(line, "Name: ix_texts")
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "Granules: "); ok && inIndex {
			return value
		}
	}
	if err := rows.Err(); err != nil {
		l.t.Fatal(err)
	}
	return ""
}

// TestBatchesLeaveTheTextIndexToMerges: rows of a batch have no search index before
// a merge and are found without it, beside others that have it.
func TestBatchesLeaveTheTextIndexToMerges(t *testing.T) {
	l := newLedger(t)
	exec := func(statement string) {
		t.Helper()
		if err := l.ClickHouse.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	find := func(text string) (found int64) {
		t.Helper()
		if err := l.ClickHouse.QueryRow(t.Context(), "SELECT sum(sign) FROM records WHERE texts LIKE {text:String}", clickhouse.Named("text", "%"+text+"%")).Scan(&found); err != nil {
			t.Fatal(err)
		}
		return found
	}
	exec("SYSTEM STOP MERGES records")
	l.start()
	for round := range 2 {
		l.append(event(fmt.Sprint("a quick problem ", round), fmt.Sprint(round)))
		l.barrier()
		left, all, ok := strings.Cut(l.granulesWith("never seen anywhere"), "/")
		if !ok || left == "0" || round == 0 && left != all {
			t.Errorf("%d: the index leaves %s of %s granules, want those of the batches", round, left, all)
		}
		if got := find("quick problem"); got != int64(round+1) {
			t.Errorf("%d: %d records were found, want %d", round, got, round+1)
		}
		exec("SYSTEM START MERGES records")
		exec("OPTIMIZE TABLE records FINAL SETTINGS optimize_throw_if_noop = 1")
		if got := l.granulesWith("never seen anywhere"); !strings.HasPrefix(got, "0/") {
			t.Errorf("%d: after a merge the index leaves the granules %s", round, got)
		}
		if got := find("quick problem"); got != int64(round+1) {
			t.Errorf("%d: after a merge %d records were found, want %d", round, got, round+1)
		}
		exec("SYSTEM STOP MERGES records")
	}
}
