package projector

import (
	"errors"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// columnBatch stands for a batch of the driver. Only its columns are used.
type columnBatch struct {
	driver.Batch

	columns []column.Interface
	err     error // of Send
}

func (b *columnBatch) Columns() []column.Interface { return b.columns }
func (b *columnBatch) Send() error                 { return b.err }

// batchOf has a column of each type.
func batchOf(t *testing.T, types ...column.Type) *columnBatch {
	t.Helper()
	b := &columnBatch{}
	for _, of := range types {
		c, err := of.Column("c", &column.ServerContext{})
		if err != nil {
			t.Fatal(err)
		}
		b.columns = append(b.columns, c)
	}
	return b
}

var insertTypes = []column.Type{bookColumn, "FixedString(16)", "UInt64", "DateTime64(3, 'UTC')", "String", "IPv6", "Bool", "Array(String)"}

const manyRows = 10_000

// fill puts rows into the column of UInt64.
func (b *columnBatch) fill(t *testing.T) {
	t.Helper()
	if _, err := b.columns[2].Append(make([]uint64, manyRows)); err != nil {
		t.Fatal(err)
	}
}

func TestColumnsAreUsedAgain(t *testing.T) {
	// The garbage collector may free what is kept at any time. Under the race detector, a pool
	// also drops some of it at random.
	const tries = 50
	for range tries {
		if columnsAreUsedAgain(t) || t.Failed() {
			return
		}
	}
	t.Error("no memory was used again")
}

func columnsAreUsedAgain(t *testing.T) bool {
	var kept keptColumns
	first, next := batchOf(t, insertTypes...), batchOf(t, insertTypes...)
	first.fill(t)
	if err := kept.send("an insert", first); err != nil {
		t.Fatal(err)
	}
	kept.lend("an insert", next)
	for i, c := range next.columns {
		if c.Rows() != 0 || c.Type() != insertTypes[i] {
			t.Errorf("column %d is %s and has %d rows", i, c.Type(), c.Rows())
		}
	}
	c, value := next.columns[2], any(uint64(7)) // in any already, so that this is not what allocates
	grown := testing.AllocsPerRun(1, func() {
		for range manyRows / 2 { // it runs twice
			if err := c.AppendRow(value); err != nil {
				t.Error(err)
			}
		}
	})
	if c.Rows() != manyRows || c.Row(0, false) != uint64(7) {
		t.Errorf("%d rows, the first is %v", c.Rows(), c.Row(0, false))
	}
	return grown == 0
}

// What is kept must be of an insert that is done, and have the same columns.
func TestColumnsThatAreNotUsedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		sent, next *columnBatch
		sentAs     string
	}{
		"an insert that failed":      {batchOf(t, insertTypes...), batchOf(t, insertTypes...), "an insert"},
		"another insert":             {batchOf(t, insertTypes...), batchOf(t, insertTypes...), "another"},
		"another number of columns":  {batchOf(t, insertTypes...), batchOf(t, insertTypes[:3]...), "an insert"},
		"columns of other types":     {batchOf(t, insertTypes...), batchOf(t, "UInt64", "String", "Int64"), "an insert"},
		"the same type, another one": {batchOf(t, "UInt8", "UInt8", "UInt64"), batchOf(t, "UInt8", "UInt8", "DateTime64(6, 'UTC')"), "an insert"},
	} {
		t.Run(name, func(t *testing.T) {
			var kept keptColumns
			c.sent.fill(t)
			if name == "an insert that failed" {
				c.sent.err = errors.New("no connection")
			}
			if err := kept.send(c.sentAs, c.sent); !errors.Is(err, c.sent.err) {
				t.Fatal(err)
			}
			before := c.next.columns[2].Type()
			kept.lend("an insert", c.next)
			if got := c.next.columns[2]; got.Type() != before || got.Rows() != 0 {
				t.Errorf("the column is %s with %d rows, it was %s", got.Type(), got.Rows(), before)
			}
			if before != "UInt64" {
				return
			}
			if grown := testing.AllocsPerRun(1, func() { c.next.fill(t) }); grown == 0 {
				t.Error("the memory of the other insert was used")
			}
		})
	}
}
