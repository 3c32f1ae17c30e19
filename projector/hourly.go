package projector

import (
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

// hourlyRows are rows of the table hourly, column by column.
type hourlyRows struct {
	book            []string
	signature       [][]byte
	id, project     []uint64
	hour            []int64 // Unix seconds
	level           []string
	count, sequence []uint64
}

func newHourlyRows(n int) *hourlyRows {
	return &hourlyRows{
		book: make([]string, 0, n), signature: make([][]byte, 0, n), id: make([]uint64, 0, n), project: make([]uint64, 0, n),
		hour: make([]int64, 0, n), level: make([]string, 0, n), count: make([]uint64, 0, n), sequence: make([]uint64, 0, n),
	}
}

func (t *hourlyRows) add(book string, signature *errata.Signature, id errata.Position, project uint64, h hourCount, sequence uint64) {
	t.book = append(t.book, book)
	t.signature = append(t.signature, signature[:])
	t.id = append(t.id, uint64(id))
	t.project = append(t.project, project)
	t.hour = append(t.hour, h.hour*int64(time.Hour/time.Second))
	t.level = append(t.level, h.level.String())
	t.count = append(t.count, h.count)
	t.sequence = append(t.sequence, sequence)
}

// hourlyOf collects what a batch adds to hourly; the last row is that of the
// checkpoint. Without events there are no rows.
func hourlyOf(changes []change, key errata.Signature, to uint64) *rollupBatch {
	rows := 0
	for i := range changes {
		rows += len(changes[i].hours)
	}
	t := newHourlyRows(rows + 1)
	var events uint64
	for i := range changes {
		c := &changes[i]
		for _, h := range c.hours {
			t.add(c.key.book.String(), &c.key.signature, c.countedOf, c.project, h, 0)
			events += h.count
		}
	}
	if events > 0 {
		t.add(checkpointBook, &key, 0, 0, hourCount{count: events}, to)
	}
	return &rollupBatch{
		table: RollupHours, insert: sqlInsertHourly, rows: len(t.book),
		fill: func(batch driver.Batch) error {
			return appendColumns(batch, t.book, t.signature, t.id, t.hour, t.level, t.count, t.sequence, t.project)
		},
	}
}
