package projector_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
)

// TestCleanupIsOneBlock: what a chunk of a cleanup removes and the checkpoint
// that says so are one part, because only a part is written as a whole or not
// at all.
func TestCleanupIsOneBlock(t *testing.T) {
	t.Cleanup(projector.SetSweepSize(100_000)) // one chunk
	l := newLedger(t)
	l.start()
	const n = 70_000 // more than the 65,409 rows of a block that is read
	for from := 0; from < n; from += 5000 {
		events := make([]errata.Event, 5000)
		for i := range events {
			events[i] = event(fmt.Sprint("problem ", from+i), fmt.Sprint(from+i))
		}
		l.append(events...)
	}
	l.barrier()
	if err := l.ClickHouse.Exec(t.Context(), "OPTIMIZE TABLE records FINAL"); err != nil {
		t.Fatal(err)
	}
	if err := l.ClickHouse.Exec(t.Context(), "SYSTEM STOP MERGES "+l.Database+".records"); err != nil {
		t.Fatal(err)
	}
	before := l.parts()
	answer, err := l.commander.Do(t.Context(), eventlog.CommandCleanup, eventlog.Cleanup{Before: time.Now().UnixMilli() + 1<<40})
	if err != nil {
		t.Fatal(err)
	}
	var removed eventlog.Changed
	if err := json.Unmarshal(answer, &removed); err != nil || removed.System != n || removed.Database != 0 {
		t.Errorf("answered %s, want %d of the system book", answer, n)
	}
	if after := l.parts(); after != before+1 {
		t.Errorf("%d parts became %d, want one more", before, after)
	}
	var live int64
	if err := l.ClickHouse.QueryRow(t.Context(), "SELECT sum(sign) FROM records WHERE book != 'checkpoint'").Scan(&live); err != nil || live != 0 {
		t.Errorf("%d records are left (%v)", live, err)
	}
}

// parts is the number of active parts of the records.
func (l *ledger) parts() (n uint64) {
	l.t.Helper()
	row := l.ClickHouse.QueryRow(l.t.Context(), "SELECT count() FROM system.parts WHERE database = currentDatabase() AND table = 'records' AND active")
	if err := row.Scan(&n); err != nil {
		l.t.Fatal(err)
	}
	return n
}
