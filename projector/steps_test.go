package projector_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/projector"
)

// smallPieces makes all that is done in pieces take many of them.
func smallPieces(t *testing.T) {
	t.Cleanup(projector.SetSweepSize(3)) // cleanups of many chunks
	t.Cleanup(projector.SetDeploymentLimits(3, 4))
	t.Cleanup(projector.SetRecordsTogether(4))
	t.Cleanup(projector.SetBatchSize(3)) // the next batch is often prepared before one is written
}

// otherSizes lets rare things happen often, in half of the histories each.
func (h *history) otherSizes() {
	if h.random.IntN(2) == 0 {
		h.t.Cleanup(projector.SetStepRepeats(1)) // steps of several batches
	}
	if h.random.IntN(2) == 0 {
		h.t.Cleanup(projector.SetRemembered(1)) // most records come from the file of the spilled ones
	}
}

// disturbedInsert is a connection that counts the inserts into each table, and disturbs one.
type disturbedInsert struct {
	driver.Conn
	mu      sync.Mutex
	inserts map[string]int
	table   string // into which the second insert is disturbed, "" for none
	disturb func(send func() error) error
}

func (d *disturbedInsert) PrepareBatch(ctx context.Context, query string, options ...driver.PrepareBatchOption) (driver.Batch, error) {
	batch, err := d.Conn.PrepareBatch(ctx, query, options...)
	if err != nil {
		return nil, err
	}
	table := strings.Fields(query)[2]
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.inserts[table]++; table == d.table && d.inserts[table] == 2 {
		return disturbedBatch{batch, d}, nil
	}
	return batch, nil
}

type disturbedBatch struct {
	driver.Batch
	by *disturbedInsert
}

func (b disturbedBatch) Send() error { return b.by.disturb(b.Batch.Send) }

// TestStepOfSeveralBatches: full batches of the same records are written together. Whatever
// becomes of an insert, each event counts once, in the records and in the rollups.
func TestStepOfSeveralBatches(t *testing.T) {
	t.Cleanup(projector.SetBatchSize(3))
	t.Cleanup(projector.SetStepRepeats(1))
	t.Cleanup(projector.SetRemembered(1))
	if n := severalBatches(t, "", nil, 0); n > 10 {
		t.Errorf("20 full batches took %d inserts into the records", n)
	}
	fails := func(func(), func() error) error { return errors.New("no connection") }
	seemsToFail := func(_ func(), send func() error) error { return errors.Join(send(), errors.New("no answer")) }
	isTheLast := func(stop func(), send func() error) error {
		err := send()
		go stop()
		return err
	}
	for _, c := range []struct {
		table, name string
		disturb     func(stop func(), send func() error) error
	}{
		{projector.RollupOccurrences, "fails", fails},
		{projector.RollupOccurrences, "seems to fail", seemsToFail},
		{projector.RollupOccurrences, "is the last", isTheLast},
		{projector.RollupHours, "seems to fail", seemsToFail},
		{"records", "is the last", isTheLast},
	} {
		t.Run(c.table+" "+c.name, func(t *testing.T) { severalBatches(t, c.table, c.disturb, 0) })
	}
}

// TestHoursOfABudgetAreWrittenTogether: with a budget of new records a batch ends with each hour
// of the log, full or not.
func TestHoursOfABudgetAreWrittenTogether(t *testing.T) {
	t.Cleanup(projector.SetStepRepeats(1))
	if n := severalBatches(t, "", nil, time.Hour); n > 10 {
		t.Errorf("20 hours took %d inserts into the records", n)
	}
}

// TestReplayFillsBatches: a replay writes a batch when it is full or has the last fact, not
// whenever it has time.
func TestReplayFillsBatches(t *testing.T) {
	l := newLedger(t)
	for i := range 40 {
		l.append(event("a", fmt.Sprint(i)))
	}
	p, _ := l.start()
	l.barrier()
	conn, cfg := &disturbedInsert{inserts: map[string]int{}}, l.rebuild()
	connect := cfg.Connect
	cfg.Connect = func(database string) (driver.Conn, error) {
		var err error
		conn.Conn, err = connect(database)
		return conn, err
	}
	comparison, err := projector.Rebuild(t.Context(), p, cfg)
	if err != nil || !comparison.Equal() || comparison.Events != 40 {
		t.Fatalf("rebuilt: %+v, %v", comparison, err)
	}
	if conn.inserts[projector.RollupOccurrences] != 1 {
		t.Errorf("40 facts took these inserts: %v", conn.inserts)
	}
}

// severalBatches folds 20 batches, with a budget of new records and a pause between two of them,
// and returns how many inserts into the records there were.
func severalBatches(t *testing.T, table string, disturb func(stop func(), send func() error) error, pause time.Duration) (inserts int) {
	l := newLedger(t)
	l.limit(1000)
	for i := range 20 {
		events := []errata.Event{
			event("a", fmt.Sprint("a", i)), event("b", fmt.Sprint("b", i)), event(fmt.Sprint("c", i%5), fmt.Sprint("c", i)), event("a", fmt.Sprint("d", i)),
		}
		for j := range events {
			events[j].Received = events[j].Received.Add(time.Duration(i) * pause)
		}
		l.append(events...)
	}
	conn := &disturbedInsert{Conn: l.ClickHouse, inserts: map[string]int{}, table: table}
	p, stop, stopped := l.prepared(conn)
	conn.disturb = func(send func() error) error { return disturb(stop, send) }
	p.Start()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-stopped
		cancel()
	}()
	if err := p.Await(ctx, 21); err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	stop()
	p, _ = l.start()
	l.barrier()
	l.want(map[string]uint64{"a": 40, "b": 20, "c0": 4, "c1": 4, "c2": 4, "c3": 4, "c4": 4})
	comparison, err := projector.Rebuild(t.Context(), p, l.rebuild())
	if err != nil {
		t.Fatal(err)
	}
	if !comparison.Equal() || !comparison.Swapped {
		t.Errorf("rebuilt: %+v", comparison)
	}
	conn.mu.Lock()
	defer conn.mu.Unlock()
	return conn.inserts["records"]
}
