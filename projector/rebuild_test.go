package projector_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/errata-log/errata/projector"
)

// straggler is a connection that does something just before the live projection is
// counted for the first time.
type straggler struct {
	driver.Conn
	once sync.Once
	then func()
}

func (s *straggler) QueryRow(ctx context.Context, query string, args ...any) driver.Row {
	if strings.HasPrefix(query, "-- The number of records, the sum of their counts") {
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
	p.Start()
	t.Cleanup(func() {
		if err := p.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
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
