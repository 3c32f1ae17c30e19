package projector_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
)

// tables are those that are kept tidy.
var tables = []string{"records", "contexts", "hourly", "deployments", "occurrences"}

// exec runs a statement.
func (l *ledger) exec(statement string) {
	l.t.Helper()
	if err := l.ClickHouse.Exec(l.t.Context(), statement); err != nil {
		l.t.Fatalf("%s: %v", statement, err)
	}
}

// number asks for one number.
func (l *ledger) number(query string) (n uint64) {
	l.t.Helper()
	if err := l.ClickHouse.QueryRow(l.t.Context(), query).Scan(&n); err != nil {
		l.t.Fatalf("%s: %v", query, err)
	}
	return n
}

// keepParts makes ClickHouse merge nothing by itself, as when its merge selector
// has come to its end.
func (l *ledger) keepParts() {
	l.t.Helper()
	for _, table := range tables {
		l.exec("ALTER TABLE " + table + " MODIFY SETTING max_bytes_to_merge_at_max_space_in_pool = 1, max_bytes_to_merge_at_min_space_in_pool = 1")
	}
}

// scatter makes a projection of many parts in which records were counted
// again, moved and removed.
func (l *ledger) scatter() (live int) {
	l.t.Helper()
	const rounds, each = 6, 20
	l.keepParts()
	for round := range rounds {
		for i := range each { // half of them are those of the round before
			l.append(event(fmt.Sprint("problem ", round*each/2+i), fmt.Sprint(round, "-", i)))
		}
		l.barrier()
	}
	gone := event("problem 3", "").Signature.String()
	if _, err := l.commander.Do(l.t.Context(), eventlog.CommandDelete, eventlog.Signatures{Signatures: []string{gone}}); err != nil {
		l.t.Fatal(err)
	}
	return (rounds+1)*each/2 - 1
}

// partNames are the active parts of the tables.
func (l *ledger) partNames() string {
	l.t.Helper()
	var names string
	row := l.ClickHouse.QueryRow(l.t.Context(), "SELECT arrayStringConcat(arraySort(groupArray(concat(table, ' ', name))), ', ') "+
		"FROM system.parts WHERE database = currentDatabase() AND active AND table IN ('records', 'contexts', 'hourly', 'deployments', 'occurrences')")
	if err := row.Scan(&names); err != nil {
		l.t.Fatal(err)
	}
	return names
}

// tally counts what stands in the projection.
func (l *ledger) tally(p *projector.Projector) projector.Tally {
	l.t.Helper()
	tally, err := p.Store().Tally(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return tally
}

// TestTidyChangesNothing: a tidy makes one part of each table, in which the
// same stands, and writes nothing again that is one part.
func TestTidyChangesNothing(t *testing.T) {
	l := newLedger(t)
	p, _ := l.start()
	live := l.scatter()
	before := l.tally(p)
	if before.Records != uint64(live) {
		t.Fatalf("%d records, want %d", before.Records, live)
	}
	if err := p.Store().Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	names := l.partNames()
	if strings.Count(names, ",")+1 != len(tables) {
		t.Errorf("the parts are %s, want one for each table", names)
	}
	if after := l.tally(p); after != before {
		t.Errorf("%+v became %+v", before, after)
	}
	if err := p.Store().Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again := l.partNames(); again != names {
		t.Errorf("the parts %s were written again as %s", names, again)
	}
	l.append(event("problem 3", "again"))
	l.barrier()
	if live := l.live(); live != int64(before.Records)+1 {
		t.Errorf("%d records after one more, want %d", live, before.Records+1)
	}
}

// TestTidyCompletesAPart: a part that is alone and was written before its table
// had a projection is written again.
func TestTidyCompletesAPart(t *testing.T) {
	l := newLedger(t)
	p, _ := l.start()
	l.append(event("a", "1"))
	l.barrier()
	if err := p.Store().Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.exec("ALTER TABLE records ADD PROJECTION later (SELECT book, signature, sign, version ORDER BY version)")
	if err := p.Store().Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := l.number("SELECT count() FROM system.parts WHERE database = currentDatabase() AND table = 'records' AND active AND has(projections, 'later')"); n != 1 {
		t.Errorf("%d parts have the projection that was added, want 1", n)
	}
	if n := l.parts(); n != 1 {
		t.Errorf("%d parts, want 1", n)
	}
}

// clock is a time that stands still.
type clock struct{ nanos atomic.Int64 }

func (c *clock) now() time.Time          { return time.Unix(0, c.nanos.Load()) }
func (c *clock) advance(d time.Duration) { c.nanos.Add(int64(d)) }

// tidying is a projector that is not started, with its tidier's clock.
func (l *ledger) tidying(cfg projector.Config, ticks <-chan time.Time) (*projector.Projector, *clock) {
	l.t.Helper()
	p, err := projector.New(l.t.Context(), cfg)
	if err != nil {
		l.t.Fatal(err)
	}
	c := &clock{}
	c.advance(time.Hour)
	projector.SetTidyClock(p, c.now, ticks)
	return p, c
}

// look lets the tidier look once.
func (l *ledger) look(p *projector.Projector) {
	l.t.Helper()
	if err := projector.Look(l.t.Context(), p); err != nil {
		l.t.Fatal(err)
	}
}

// TestTidierWaitsUntilIdle: one table at a look, none while something is
// folded, and none a second time.
func TestTidierWaitsUntilIdle(t *testing.T) {
	l := newLedger(t)
	_, stop := l.start()
	l.scatter()
	stop()
	registry := prometheus.NewRegistry()
	cfg := l.config()
	cfg.Registerer = registry
	p, clock := l.tidying(cfg, nil)
	l.look(p) // deletes the occurrences of the record that was removed
	before := l.partNames()
	clock.advance(19 * time.Second)
	l.look(p)
	if now := l.partNames(); now != before {
		t.Errorf("the parts %s became %s before the table was idle", before, now)
	}
	clock.advance(time.Second)
	for range tables {
		l.look(p)
	}
	names := l.partNames()
	if strings.Count(names, ",")+1 != len(tables) {
		t.Errorf("the parts are %s, want one for each table", names)
	}
	l.look(p)
	if again := l.partNames(); again != names {
		t.Errorf("the parts %s were written again as %s", names, again)
	}
	for _, table := range tables {
		if n := gathered(t, registry, "errata_projection_parts", table); n != 1 {
			t.Errorf("%s: %v parts in the metric, want 1", table, n)
		}
		if n := gathered(t, registry, "errata_projection_tidies_total", table); n != 1 {
			t.Errorf("%s: %v tidies in the metric, want 1", table, n)
		}
	}
}

// gathered is the value of a metric for a table.
func gathered(t *testing.T, from prometheus.Gatherer, name, table string) (value float64) {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if family.GetName() == name && metric.GetLabel()[0].GetValue() == table {
				value += metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
			}
		}
	}
	return value
}

// half is a connection that reads as one user and works as another.
type half struct {
	driver.Conn
	works driver.Conn
}

func (h half) Exec(ctx context.Context, query string, args ...any) error {
	return h.works.Exec(ctx, query, args...)
}

// TestTidierGivesUp: where the user may not merge the tables the tidier ends
// and does not ask again at every tick.
func TestTidierGivesUp(t *testing.T) {
	l := newLedger(t)
	_, stop := l.start()
	l.scatter()
	stop()
	cfg := l.config()
	cfg.ClickHouse = half{Conn: l.ClickHouse, works: l.ReadOnlyClickHouse}
	ticks := make(chan time.Time, 2)
	p, clock := l.tidying(cfg, ticks)
	l.look(p)
	clock.advance(time.Minute)
	ticks <- time.Time{}
	ticks <- time.Time{}
	projector.RunTidier(t.Context(), p) // returns by itself
	if len(ticks) != 1 {
		t.Errorf("%d ticks are left, want 1: one try is enough", len(ticks))
	}
}

// bulk makes so many records in parts of a tenth of them, without a log.
func (l *ledger) bulk(n int) {
	l.t.Helper()
	for i := range 10 {
		l.exec(fmt.Sprintf(`INSERT INTO records (book, signature, id, version, count, first_seen, last_seen, message_preview, sign)
			SELECT 'system', sipHash128Reference(number), number AS id, id AS version, 1, id AS first, id AS last, concat('problem ', hex(sipHash128(number))), 1
			FROM numbers(%d, %d)`, i*n/10, n/10))
	}
}

// TestStopDoesNotWaitForATidy: who stops the projector does not wait until
// ClickHouse has merged.
func TestStopDoesNotWaitForATidy(t *testing.T) {
	l := newLedger(t)
	l.keepParts()
	l.bulk(500_000)
	ticks := make(chan time.Time)
	p, clock := l.tidying(l.config(), ticks)
	l.look(p)
	clock.advance(time.Minute)
	p.Start()
	ticks <- time.Time{}
	merging := "SELECT count() FROM system.merges WHERE database = currentDatabase() AND table = 'records'"
	for deadline := time.Now().Add(time.Minute); l.number(merging) == 0; {
		if time.Now().After(deadline) {
			t.Fatal("no tidy began")
		}
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if l.number(merging) == 0 {
		t.Error("Stop returned when the merge was over")
	}
}

// TestFoldBesideTidies: inserts, a snapshot and a rebuild while the tables are
// merged again and again; all is counted once.
func TestFoldBesideTidies(t *testing.T) {
	l := newLedger(t)
	p, _ := l.start()
	l.problems(10_000)
	l.barrier()
	ctx, cancel := context.WithCancel(t.Context())
	var tidies atomic.Int64
	var work sync.WaitGroup
	work.Go(func() { // ends with ctx
		for ctx.Err() == nil {
			// The rebuild takes a table away while it is merged: that is an error.
			if err := p.Store().Tidy(ctx); err == nil {
				tidies.Add(1)
			} else if !errors.Is(err, context.Canceled) {
				t.Log(err)
			}
		}
	})
	want := map[string]uint64{}
	rounds := func(from, to int) {
		for round := from; round < to; round++ {
			message := fmt.Sprint("again ", round%10)
			l.append(event(message, fmt.Sprint("r", round)), event("problem 7", fmt.Sprint("p", round)))
			want[message]++
			want["problem 7"]++
			l.barrier()
		}
	}
	want["problem 7"] = 1
	rounds(0, 10)
	if _, err := l.commander.Do(t.Context(), eventlog.CommandSnapshot, eventlog.Snapshot{}); err != nil {
		t.Fatal(err)
	}
	comparison, err := projector.Rebuild(t.Context(), p, l.rebuild())
	if err != nil {
		t.Fatal(err)
	}
	if !comparison.Equal() || !comparison.Swapped {
		t.Errorf("rebuilt: %+v", comparison)
	}
	rounds(10, 20)
	cancel()
	work.Wait()
	t.Logf("%d tidies", tidies.Load())
	if tidies.Load() < 3 {
		t.Errorf("%d tidies meanwhile, want some", tidies.Load())
	}
	got := l.records()
	for message, n := range want {
		if got[message].Count != n {
			t.Errorf("%s: count %d, want %d", message, got[message].Count, n)
		}
	}
	if len(got) != 10_000+10 {
		t.Errorf("%d records, want %d", len(got), 10_000+10)
	}
}
