package query

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/errata-log/errata/test/testenv"
)

// TestOneSnapshot checks that both halves of one_scan.sql see the same parts, also
// when a merge runs between them. The test makes the first half slow, so that the
// merge has time.
func TestOneSnapshot(t *testing.T) {
	env := testenv.New(t)
	load(t, env.ClickHouse, 300)
	exec := func(sql string) {
		if err := env.ClickHouse.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec("SYSTEM STOP MERGES records")
	reader := New(Config{ClickHouse: env.ReadOnlyClickHouse})
	f, p := Filter{File: "src"}, Page{Order: OrderID, Direction: Ascending}.normal()
	want, err := reader.oneScan(t.Context(), f, p.slice())
	if err != nil || len(want.records) == 0 {
		t.Fatalf("%d records, error %v", len(want.records), err)
	}
	q, err := oneScanStatement(f, p.slice())
	if err != nil {
		t.Fatal(err)
	}
	const where = "AND indexHint(texts"
	if strings.Count(q.text, where) != 1 {
		t.Fatalf("no single %q in:\n%s", where, q.text)
	}
	q.text = strings.Replace(q.text, where, "AND sleepEachRow(0.001) = 0 AND indexHint(texts", 1)

	type answer struct {
		at    found
		err   error
		ended time.Time
	}
	slow := make(chan answer, 1)
	const id = "slow-half"
	go func() {
		at, err := reader.scanned(clickhouse.Context(t.Context(), clickhouse.WithQueryID(id)), q, p.slice())
		slow <- answer{at, err, time.Now()}
	}()
	for running := uint64(0); running == 0; {
		if len(slow) > 0 {
			t.Fatalf("the query ended before it was seen running: %v", (<-slow).err)
		}
		row := env.ClickHouse.QueryRow(t.Context(), "SELECT count() FROM system.processes WHERE query_id = ? AND read_rows > 0", id)
		if err := row.Scan(&running); err != nil {
			t.Fatal(err)
		}
	}
	exec("SYSTEM START MERGES records")
	exec("OPTIMIZE TABLE records FINAL")
	merged := time.Now()
	a := <-slow
	if a.err != nil {
		t.Fatal(a.err)
	}
	if a.ended.Before(merged) {
		t.Fatal("the query ended before the merge; make it slower")
	}
	if !reflect.DeepEqual(a.at.records, want.records) {
		t.Errorf("%v, want %v", a.at.records, want.records)
	}
}
