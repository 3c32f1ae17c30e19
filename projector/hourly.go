package projector

import (
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

// hourCount counts the events of one level in one hour.
type hourCount struct {
	hour  int64 // Unix time in hours
	level errata.Level
	count uint64
}

// indexedHours is from how many on a map finds them faster than a search. Applications may
// send times of many years, so that each event of a record has an hour of its own.
const indexedHours = 64

// hourList counts events by hour and level.
type hourList struct {
	list  []hourCount
	index map[hourCount]int // where each is in the list, without its count; nil while it is short
}

// add counts events in their hour. Most events of a stretch have the same hour and level, so
// the search is short.
func (l *hourList) add(at hourCount) {
	key := hourCount{hour: at.hour, level: at.level}
	if l.index != nil {
		if i, found := l.index[key]; found {
			l.list[i].count += at.count
			return
		}
		l.index[key] = len(l.list)
		l.list = append(l.list, at)
		return
	}
	for i := len(l.list) - 1; i >= 0; i-- {
		if h := &l.list[i]; h.hour == at.hour && h.level == at.level {
			h.count += at.count
			return
		}
	}
	if l.list = append(l.list, at); len(l.list) == indexedHours {
		l.index = make(map[hourCount]int, 2*indexedHours)
		for i, h := range l.list {
			l.index[hourCount{hour: h.hour, level: h.level}] = i
		}
	}
}

// merge adds the events of another stretch.
func (l *hourList) merge(later hourList) {
	for _, h := range later.list {
		l.add(h)
	}
}

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
		rows += len(changes[i].hours.list)
	}
	t := newHourlyRows(rows + 1)
	var events uint64
	for i := range changes {
		c := &changes[i]
		for _, h := range c.hours.list {
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
