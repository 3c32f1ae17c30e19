package projector_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/errata-log/errata/projector"
)

const countsRecords = "-- The number of records and the sum of their counts" // tally_totals.sql

// straggler is a connection that does something just before the live projection is
// counted for the first time.
type straggler struct {
	driver.Conn
	once sync.Once
	then func()
}

func (s *straggler) QueryRow(ctx context.Context, query string, args ...any) driver.Row {
	if strings.HasPrefix(query, countsRecords) {
		s.once.Do(s.then)
	}
	return s.Conn.QueryRow(ctx, query, args...)
}

// TestRebuildMeetsAStraggler: an insert that becomes visible after the live
// projector has stopped is in both projections when they are compared.
func TestRebuildMeetsAStraggler(t *testing.T) {
	l := newLedger(t)
	conn := &straggler{Conn: l.ClickHouse, then: func() {
		_, stop := l.start()
		l.append(event("another problem", "2"))
		l.barrier()
		stop()
	}}
	cfg := l.config()
	cfg.ClickHouse = conn
	p, err := projector.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	l.run(p)
	l.append(event("a problem", "1"))
	l.barrier()
	comparison, err := projector.Rebuild(t.Context(), p, l.rebuild())
	if err != nil {
		t.Fatal(err)
	}
	if !comparison.Equal() || !comparison.Swapped || comparison.Live.Records != 2 {
		t.Errorf("rebuilt: %+v", comparison)
	}
}

// brokenOff is a connection. When it is armed, the next insert of records waits until the
// projector is stopped, and does not happen.
type brokenOff struct {
	driver.Conn
	armed atomic.Bool
	waits chan struct{} // closed when it waits
}

func (b *brokenOff) PrepareBatch(ctx context.Context, query string, options ...driver.PrepareBatchOption) (driver.Batch, error) {
	if strings.Contains(query, "INSERT INTO records") && b.armed.CompareAndSwap(true, false) {
		close(b.waits)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return b.Conn.PrepareBatch(ctx, query, options...)
}

// TestRebuildMeetsHalfABatch: when the live projector is stopped, its rollups may have a batch
// that its records do not have yet. Both projections are the same nevertheless.
func TestRebuildMeetsHalfABatch(t *testing.T) {
	l := newLedger(t)
	conn := &brokenOff{Conn: l.ClickHouse, waits: make(chan struct{})}
	p, stop, _ := l.prepared(conn)
	p.Start()
	t.Cleanup(stop)
	l.append(event("a problem", "1"))
	l.barrier()
	conn.armed.Store(true)
	l.append(event("a problem", "2"), event("another problem", "3"))
	<-conn.waits
	comparison := l.rebuilt(p)
	if !comparison.Equal() || !comparison.Swapped || comparison.Live.Count != 3 {
		t.Errorf("rebuilt: %+v", comparison)
	}
	l.barrier()
	l.want(map[string]uint64{"a problem": 2, "another problem": 1})
}
