package projector_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/errata-log/errata/projector"
)

// holdingInsert is a connection. Its first insert of records waits until the next batch has
// written its sums by hour.
type holdingInsert struct {
	driver.Conn
	mu    sync.Mutex
	hours int           // inserts of hours
	ahead chan struct{} // closed at the second one
	first sync.Once
	then  func(ctx context.Context) error // what becomes of the insert
}

func (h *holdingInsert) PrepareBatch(ctx context.Context, query string, options ...driver.PrepareBatchOption) (batch driver.Batch, err error) {
	if strings.Contains(query, "INSERT INTO records") {
		h.first.Do(func() {
			select {
			case <-h.ahead:
				err = h.then(ctx)
			case <-ctx.Done():
				err = ctx.Err()
			}
		})
	}
	if err != nil {
		return nil, err
	}
	batch, err = h.Conn.PrepareBatch(ctx, query, options...)
	if err == nil && strings.Contains(query, "INSERT INTO hourly") {
		return countedBatch{batch, h}, nil
	}
	return batch, err
}

// countedBatch is an insert of hours.
type countedBatch struct {
	driver.Batch
	of *holdingInsert
}

func (b countedBatch) Send() error {
	err := b.Batch.Send()
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	if err == nil {
		if b.of.hours++; b.of.hours == 2 {
			close(b.of.ahead)
		}
	}
	return err
}

// While the records of a full batch are written, the next batch is prepared. Whatever becomes
// of that insert, each event counts once, also in the rollups.
func TestTheNextBatchIsPreparedBesideAnInsert(t *testing.T) {
	for name, then := range map[string]func(l *ledger, stop func()) func(context.Context) error{
		"is inserted": func(*ledger, func()) func(context.Context) error {
			return func(context.Context) error { return nil }
		},
		"fails once": func(*ledger, func()) func(context.Context) error {
			return func(context.Context) error { return errors.New("no connection") }
		},
		"is given up": func(_ *ledger, stop func()) func(context.Context) error {
			return func(ctx context.Context) error {
				go stop() // ends when the insert has ended
				<-ctx.Done()
				return ctx.Err()
			}
		},
		"comes too late": func(l *ledger, _ func()) func(context.Context) error {
			return func(context.Context) error {
				_, stop := l.start()
				l.barrier()
				stop()
				return nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) { heldInsert(t, then, name == "is given up") })
	}
}

// prepared makes a projector on the connection, which is not started. stopped is closed when
// stop, which may be called again, has stopped it.
func (l *ledger) prepared(conn driver.Conn) (p *projector.Projector, stop func(), stopped <-chan struct{}) {
	l.t.Helper()
	cfg := l.config()
	cfg.ClickHouse = conn
	p, err := projector.New(l.t.Context(), cfg)
	if err != nil {
		l.t.Fatal(err)
	}
	done := make(chan struct{})
	return p, sync.OnceFunc(func() {
		if err := p.Stop(context.WithoutCancel(l.t.Context())); err != nil {
			l.t.Error(err)
		}
		close(done)
	}), done
}

// heldInsert folds three batches, of which the first is held back until then decides. With
// givenUp that stops the projector, and another one goes on.
func heldInsert(t *testing.T, then func(l *ledger, stop func()) func(context.Context) error, givenUp bool) {
	t.Cleanup(projector.SetBatchSize(2))
	l := newLedger(t)
	l.append(event("a", "1"), event("b", "2"))
	l.append(event("c", "3"), event("a", "4"))
	l.append(event("d", "5"), event("a", "4"), event("c", "6"))
	conn := &holdingInsert{Conn: l.ClickHouse, ahead: make(chan struct{})}
	p, stop, stopped := l.prepared(conn)
	conn.then = then(l, stop)
	p.Start()
	t.Cleanup(stop)
	if givenUp {
		<-stopped
		p, _ = l.start()
	}
	l.barrier()
	l.want(map[string]uint64{"a": 2, "b": 1, "c": 2, "d": 1})
	comparison, err := projector.Rebuild(t.Context(), p, l.rebuild())
	if err != nil {
		t.Fatal(err)
	}
	if !comparison.Equal() || !comparison.Swapped {
		t.Errorf("rebuilt: %+v", comparison)
	}
}
