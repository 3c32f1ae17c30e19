package projector

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// keptColumns keep the memory of inserts that are done, for the next ones with the same name. The
// driver makes new columns for each insert, and they grow row by row: that is a twentieth of the
// service's processor time while a log of new problems is caught up with. What no insert takes
// for a while goes to the garbage collector. The zero value keeps nothing yet.
type keptColumns struct {
	pools sync.Map // *sync.Pool with the *[]column.Interface of one insert, by name
}

// lend gives a batch without rows the memory of an earlier one.
func (k *keptColumns) lend(name string, batch driver.Batch) {
	kept, _ := k.pool(name).Get().(*[]column.Interface)
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

// send sends the batch, and keeps its memory. After an error the driver may still be reading it.
func (k *keptColumns) send(name string, batch driver.Batch) error {
	columns := batch.Columns()
	if err := batch.Send(); err != nil {
		return err
	}
	for _, c := range columns {
		c.Reset()
	}
	k.pool(name).Put(&columns)
	return nil
}

func (k *keptColumns) pool(name string) *sync.Pool {
	pool, ok := k.pools.Load(name)
	if !ok {
		pool, _ = k.pools.LoadOrStore(name, new(sync.Pool))
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
