package projector

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// keptColumns keeps the columns of inserts that have ended, so that the next insert with the same
// statement can use their memory. The driver makes new columns for each insert, and they grow row
// by row: that is a twentieth of the service's processor time while a log of new problems is caught
// up with. The garbage collector frees what no insert takes for a while. The zero value is ready.
type keptColumns struct {
	pools sync.Map // *sync.Pool with the *[]column.Interface of one statement
}

// keepingBatch is a batch whose columns are kept when it is sent.
type keepingBatch struct {
	driver.Batch

	columns   *keptColumns
	statement string
}

// Send sends the batch.
func (b *keepingBatch) Send() error { return b.columns.send(b.statement, b.Batch) }

// prepareBatch begins an insert that uses the columns of an earlier one.
func (s *Store) prepareBatch(ctx context.Context, statement string) (driver.Batch, error) {
	batch, err := s.conn.PrepareBatch(ctx, statement) //nolint:clickhouselint // who asked for it closes it
	if err != nil {
		return nil, err
	}
	s.columns.lend(statement, batch)
	return &keepingBatch{Batch: batch, columns: &s.columns, statement: statement}, nil
}

// lend moves the columns of an earlier batch into one that has no rows yet.
func (k *keptColumns) lend(statement string, batch driver.Batch) {
	kept, _ := k.pool(statement).Get().(*[]column.Interface)
	columns := batch.Columns()
	if kept == nil || len(*kept) != len(columns) {
		return
	}
	for i, to := range columns {
		// The columns of a table may have changed: another node may migrate it while this one runs.
		if from := (*kept)[i]; to.Name() == from.Name() && to.Type() == from.Type() && reflect.TypeOf(to) == reflect.TypeOf(from) {
			reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from).Elem())
		}
	}
}

// send sends the batch and keeps its columns. After an error the driver may still be reading it.
func (k *keptColumns) send(statement string, batch driver.Batch) error {
	columns := batch.Columns()
	if err := batch.Send(); err != nil {
		return err
	}
	for _, c := range columns {
		c.Reset()
	}
	k.pool(statement).Put(&columns)
	return nil
}

func (k *keptColumns) pool(statement string) *sync.Pool {
	pool, ok := k.pools.Load(statement)
	if !ok {
		pool, _ = k.pools.LoadOrStore(statement, new(sync.Pool))
	}
	return pool.(*sync.Pool) //nolint:forcetypeassert // nothing else is stored
}

// appendColumns puts rows into a batch of the driver, column by column: the driver
// encodes a column many times faster than single values.
func appendColumns(batch driver.Batch, columns ...any) error {
	for i, column := range columns {
		if err := batch.Column(i).Append(column); err != nil {
			return fmt.Errorf("encode column %d: %w", i, err)
		}
	}
	return nil
}
