package projector_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/errata-log/errata/projector"
)

// observedInserts is a connection that notes of each insert of records whether merges waited.
type observedInserts struct {
	driver.Conn
	waits func() bool
	mu    sync.Mutex
	saw   []bool
}

func (o *observedInserts) PrepareBatch(ctx context.Context, query string, options ...driver.PrepareBatchOption) (driver.Batch, error) {
	if strings.Contains(query, "INSERT INTO records") {
		o.mu.Lock()
		o.saw = append(o.saw, o.waits())
		o.mu.Unlock()
	}
	return o.Conn.PrepareBatch(ctx, query, options...)
}

// inserts returns what was noted since the last call.
func (o *observedInserts) inserts() []bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer func() { o.saw = nil }()
	return o.saw
}

// The merges of a rebuild wait until its tables are the live ones, also behind its last batch.
func TestMergesWaitForARebuild(t *testing.T) { testMergesOfARebuild(t, true) }

// Those of a long one begin before, and wait again for the comparison.
func TestMergesWaitForTheComparison(t *testing.T) {
	t.Cleanup(projector.SetHeldBatches(2))
	testMergesOfARebuild(t, true)
}

// Where the merges of the live tables cannot be stopped, the rebuild ends all the same.
func TestMergesThatCannotWaitForTheComparison(t *testing.T) { testMergesOfARebuild(t, false) }

// An erasure waits for a mutation, which waits with the merges. So it ends the wait.
func TestErasureBehindFullBatches(t *testing.T) {
	t.Cleanup(projector.SetBatchSize(2))
	l := newLedger(t)
	for i := range 7 {
		l.append(event(fmt.Sprint("problem ", i), fmt.Sprint(i)))
	}
	_, stop := l.start()
	if _, err := l.commander.Erase(t.Context(), []string{"u-77"}, nil); err != nil {
		t.Fatal(err)
	}
	stop()
	cfg := l.config()
	cfg.Own = true
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if comparison, err := projector.Rebuild(ctx, must(t, cfg), l.rebuild()); err != nil || !comparison.Swapped {
		t.Fatalf("rebuilt: %+v, %v", comparison, err)
	}
}

// unstoppable is a connection on which merges cannot be stopped.
type unstoppable struct{ driver.Conn }

func (u unstoppable) Exec(ctx context.Context, statement string, args ...any) error {
	if strings.Contains(statement, "SYSTEM STOP MERGES") {
		return errors.New("merges cannot be stopped")
	}
	return u.Conn.Exec(ctx, statement, args...)
}

func testMergesOfARebuild(t *testing.T, stoppable bool) {
	t.Cleanup(projector.SetBatchSize(2))
	l := newLedger(t)
	for i := range 7 {
		l.append(event(fmt.Sprint("problem ", i), fmt.Sprint(i)))
	}
	_, stop := l.start()
	l.barrier()
	stop()
	cfg := l.config()
	cfg.Own = true
	if !stoppable {
		cfg.ClickHouse = unstoppable{cfg.ClickHouse}
	}
	p := must(t, cfg)
	rebuild := l.rebuild()
	compared, waited, liveWaited := 0, false, false
	rebuild.Connect = func(database string) (driver.Conn, error) {
		conn, err := l.Connect(t.Context(), database)
		return heard{Conn: conn, after: func(statement string) {
			if strings.HasPrefix(statement, countsRecords) {
				compared++
				waited = conn.Exec(t.Context(), "OPTIMIZE TABLE records FINAL") != nil
				liveWaited = l.ClickHouse.Exec(t.Context(), "OPTIMIZE TABLE occurrences FINAL") != nil
			}
		}}, err
	}
	if comparison, err := projector.Rebuild(t.Context(), p, rebuild); err != nil || !comparison.Swapped {
		t.Fatalf("rebuilt: %+v, %v", comparison, err)
	}
	if compared != 1 || !waited || liveWaited != stoppable {
		t.Errorf("compared %d times, and merges waited then: %v, those of the live tables: %v", compared, waited, liveWaited)
	}
	for _, table := range []string{"records", "occurrences"} {
		if l.Optimize(table) {
			t.Errorf("the table %s is not merged after the rebuild", table)
		}
	}
}

// Merges wait while a session that begins behind writes its first full batches, and only then.
func TestMergesWaitForACatchUp(t *testing.T) {
	t.Cleanup(projector.SetBatchSize(2))
	const held = 20
	t.Cleanup(projector.SetHeldBatches(held))
	l := newLedger(t)
	n := 0
	fill := func(blocks int) {
		for range blocks {
			l.append(event(fmt.Sprint("a", n), fmt.Sprint("a", n)), event(fmt.Sprint("b", n), fmt.Sprint("b", n)))
			n++
		}
	}
	l.append(event("a", "a")) // a batch with this alone is not full
	fill(25)
	conn := &observedInserts{Conn: l.ClickHouse}
	cfg := l.config()
	cfg.ClickHouse, cfg.Own = conn, true
	p, err := projector.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	conn.waits = func() bool { return p.Store().Merges().Held("records") && p.Store().Merges().Held("occurrences") }
	l.run(p)
	l.barrier()
	saw := conn.inserts()
	// The last of them is written while the next one is prepared.
	if begin := slices.Index(saw, true); begin < 0 || begin > 1 || slices.Contains(saw[begin:held-1], false) || slices.Contains(saw[held:], true) {
		t.Errorf("merges waited at the inserts %v, want the first %d, perhaps without the first one", saw, held)
	}
	fill(5)
	l.barrier()
	if saw := conn.inserts(); slices.Contains(saw, true) || conn.waits() {
		t.Errorf("merges waited at later inserts: %v", saw)
	}
}
