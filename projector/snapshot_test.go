package projector_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
)

// oldest are the files that make the tables as they were before the search column;
// each has one statement.
const oldest = "../migrations/clickhouse/000[01][0-9]_*.sql"

// asOfOld replaces the tables of the snapshot by tables with the same rows, in the
// structure of a version before file 00011.
func (l *ledger) asOfOld(snapshot string) {
	l.t.Helper()
	exec := func(statement string) {
		if err := l.ClickHouse.Exec(l.t.Context(), statement); err != nil {
			l.t.Fatalf("%s: %v", statement, err)
		}
	}
	old := snapshot + "_old"
	exec("CREATE DATABASE " + old)
	files, err := filepath.Glob(oldest)
	if err != nil || len(files) < 10 {
		l.t.Fatalf("files %v, %v", files, err)
	}
	options := l.ClickHouseOptions()
	options.Auth.Database = old
	conn, err := clickhouse.Open(options)
	if err != nil {
		l.t.Fatal(err)
	}
	defer conn.Close()
	for _, file := range files[:10] {
		text, err := os.ReadFile(file)
		if err != nil {
			l.t.Fatal(err)
		}
		if err := conn.Exec(l.t.Context(), string(text)); err != nil {
			l.t.Fatalf("%s: %v", file, err)
		}
	}
	for _, table := range []string{"records", "contexts", "hourly"} {
		var columns string // those that there were
		if err := conn.QueryRow(l.t.Context(), "SELECT arrayStringConcat(groupArray(name), ', ') FROM system.columns WHERE database = ? AND table = ? AND default_kind = ''", old, table).Scan(&columns); err != nil {
			l.t.Fatal(err)
		}
		values := strings.Replace(columns, ", checkpoint", `, replaceRegexpAll(checkpoint, '"(fold|deployed)":[0-9]+,', '')`, 1)
		exec(fmt.Sprintf("INSERT INTO %s.%s (%s) SELECT %s FROM %s.%[2]s", old, table, columns, values, snapshot))
	}
	for _, table := range []string{"payloads", "module_log", "query_log"} {
		exec("DROP TABLE " + old + "." + table + " SYNC") // a snapshot has none of these
	}
	exec("DROP DATABASE " + snapshot + " SYNC")
	exec("RENAME DATABASE " + old + " TO " + snapshot)
}

// snapshot takes a snapshot and purges the log before it.
func (l *ledger) snapshot() {
	l.t.Helper()
	stream, err := l.JetStream.Stream(l.t.Context(), l.log.Stream)
	if err != nil {
		l.t.Fatal(err)
	}
	keep := stream.CachedInfo().State.LastSeq + 1
	answer, err := l.commander.Do(l.t.Context(), eventlog.CommandSnapshot, eventlog.Snapshot{Keep: keep})
	if err != nil {
		l.t.Fatal(err)
	}
	var taken eventlog.SnapshotTaken
	if err := json.Unmarshal(answer, &taken); err != nil || taken.Sequence+1 < keep {
		l.t.Fatalf("the snapshot was answered %s, %v", answer, err)
	}
	if err := eventlog.Purge(l.t.Context(), l.log, keep); err != nil {
		l.t.Fatal(err)
	}
}

// TestRebuildFromAnOldSnapshot: a rebuild can use the snapshot of an older version,
// and so can the next one.
func TestRebuildFromAnOldSnapshot(t *testing.T) {
	l := newLedger(t)
	_, stop := l.start()
	for n := range 30 {
		l.append(event(fmt.Sprint("problem ", n%7), fmt.Sprint(n)))
	}
	l.barrier()
	l.snapshot()
	stop()
	l.asOlder(1)
	l.asOfOld(l.Database + projector.SnapshotSuffix)
	p, stop := l.start()
	for n := range 30 {
		l.append(event(fmt.Sprint("problem ", n%11), fmt.Sprint("later ", n)))
	}
	l.barrier()
	stop()
	for _, outdated := range []bool{true, false} {
		comparison, err := projector.Rebuild(context.WithoutCancel(t.Context()), p, l.rebuild())
		if err != nil {
			t.Fatal(err)
		}
		if !comparison.Equal() || !comparison.Swapped || comparison.From == 1 || comparison.Live.Records != 11 || comparison.Live.Count != 60 || comparison.Outdated != outdated {
			t.Errorf("rebuilt: %+v", comparison)
		}
		// Its old rows are found by their text, and are in small granules.
		var found int64
		var engine string
		if err := l.ClickHouse.QueryRow(t.Context(), "SELECT sum(sign), any((SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = 'records')) FROM records WHERE texts LIKE '%problem 3%'").Scan(&found, &engine); err != nil {
			t.Fatal(err)
		}
		if found != 1 || !strings.Contains(engine, "index_granularity = 64") {
			t.Errorf("%d records were found in %s", found, engine)
		}
	}
	l.start()
	l.snapshot() // the new one replaces the old one
	l.append(event("problem 0", "last"))
	l.barrier()
	p, stop = l.start()
	stop()
	if comparison, err := projector.Rebuild(context.WithoutCancel(t.Context()), p, l.rebuild()); err != nil || !comparison.Equal() || comparison.Live.Count != 61 {
		t.Errorf("rebuilt from the next snapshot: %+v, %v", comparison, err)
	}
}

// TestTidyAfterARebuildFromASnapshot: the migrations of the rebuild take ClickHouse
// projections off the parts of the snapshot, and ClickHouse merges no part with a
// projection and one without it. They are merged all the same, and have it again.
func TestTidyAfterARebuildFromASnapshot(t *testing.T) {
	l := newLedger(t)
	_, stop := l.start()
	l.append(event("before", "1"))
	l.barrier()
	l.snapshot()
	stop()
	p, stop := l.start()
	stop()
	if comparison, err := projector.Rebuild(context.WithoutCancel(t.Context()), p, l.rebuild()); err != nil || !comparison.Swapped {
		t.Fatalf("%+v, %v", comparison, err)
	}
	p, _ = l.start()
	l.append(event("after", "2"))
	l.barrier()
	if err := p.Store().Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := l.number("SELECT count() FROM system.parts WHERE database = currentDatabase() AND table = 'hourly' AND active AND has(projections, 'by_level')"); n != 1 {
		t.Errorf("%d parts of hourly have its projection, want 1", n)
	}
}
