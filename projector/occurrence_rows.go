package projector

import (
	"cmp"
	_ "embed"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

//go:embed sql/insert_occurrences.sql
var sqlInsertOccurrences string

// occurrenceRows are what a batch adds to the table occurrences. The first row is that of
// the checkpoint.
type occurrenceRows struct {
	*occurrences
	// sorted are the rows in the order of the table: the server then has nothing to sort.
	sorted []occurrence
	// owners are the deltas of the records that count the events, by part.
	owners   []*delta
	key      errata.Signature
	sequence uint64
}

// occurrencesOf collects what a batch adds to occurrences. Without events there are no
// rows.
func occurrencesOf(o *occurrences, key errata.Signature, to uint64) *rollupBatch {
	b := &rollupBatch{table: RollupOccurrences, insert: sqlInsertOccurrences, settings: clickhouse.Settings{
		"low_cardinality_allow_in_native_format": 0, // as in serverDictionaries
		"optimize_on_insert":                     0, // no two rows have the same key
		settingLateIndex:                         "ix_event,ix_client_id,ix_tags",
	}}
	if o == nil || o.count == 0 {
		return b
	}
	t := &occurrenceRows{occurrences: o, owners: o.owners(), key: key, sequence: to}
	t.sort()
	b.rows, b.fill = o.count+1, t.appendTo
	return b
}

// owners finds the delta of the record that counts each part, and how many rows it has.
func (o *occurrences) owners() []*delta {
	owners := make([]*delta, len(o.parts))
	for i, part := range o.parts {
		part = part.owner()
		part.rows, owners[i] = 0, part
	}
	for _, rows := range o.rows {
		for i := range rows {
			owners[rows[i].part].rows++
		}
	}
	return owners
}

// sort puts the rows into the order of the table: by record, then along the log.
func (t *occurrenceRows) sort() {
	t.sorted = make([]occurrence, t.count)
	next, at := make([]uint64, len(t.owners)), uint64(0)
	// With the front of the signature beside it, a record is hardly ever looked at.
	type keyed struct {
		book  errata.Book
		front uint64
		of    *delta
	}
	records := make([]keyed, 0, len(t.owners))
	for i, of := range t.owners {
		if of.rows > 0 && of.part == uint32(i) {
			records = append(records, keyed{of.record.Book, binary.BigEndian.Uint64(of.record.Signature[:]), of})
		}
	}
	slices.SortFunc(records, func(a, b keyed) int {
		if order := cmp.Or(cmp.Compare(a.book, b.book), cmp.Compare(a.front, b.front)); order != 0 {
			return order
		}
		return a.of.record.Key().Compare(b.of.record.Key())
	})
	for _, r := range records {
		next[r.of.part], at = at, at+r.of.rows
	}
	for _, rows := range t.rows {
		for i := range rows {
			place := &next[t.owners[rows[i].part].part]
			t.sorted[*place] = rows[i]
			*place++
		}
	}
}

// numbers returns the number of each row among all occurrences of its record. The last
// row of a record has its count, whether or not the table holds earlier ones already.
func (t *occurrenceRows) numbers() []uint64 {
	numbers, rows := make([]uint64, 1, t.count+1), make([]uint64, len(t.owners))
	for i := range t.sorted {
		of := t.owners[t.sorted[i].part]
		rows[of.part]++
		numbers = append(numbers, of.record.Count-of.rows+rows[of.part])
	}
	return numbers
}

// columnOf returns a column of the rows in the memory of a column that is not needed any
// more; first is its value in the row of the checkpoint.
func columnOf[T any](t *occurrenceRows, memory *[]T, first T, value func(row *occurrence, of *errata.Record) T) []T {
	if *memory == nil {
		*memory = make([]T, 0, t.count+1)
	}
	column := append((*memory)[:0], first) //nolint:gocritic // it is the memory of the rows before
	for i := range t.sorted {
		row := &t.sorted[i]
		column = append(column, value(row, t.owners[row.part].record))
	}
	return column
}

// appendTo puts the rows into the batch, column by column, in the order of
// insert_occurrences.sql. Each column is in the driver's memory before the next is made.
func (t *occurrenceRows) appendTo(batch driver.Batch) error {
	type (
		row    = occurrence
		record = errata.Record
	)
	var (
		texts   []string
		raw     [][]byte
		numbers []uint64
		times   []int64
		w       = columnWriter{batch: batch}
		nothing [16]byte
	)
	name := func(number func(r *row) uint32) []string {
		return columnOf(t, &texts, "", func(r *row, _ *record) string { return t.names.list[number(r)] })
	}
	client, user, trace, tags := t.columnsOfTexts()
	w.append(columnOf(t, &texts, checkpointBook, func(_ *row, of *record) string { return of.Book.String() }))
	w.append(columnOf(t, &raw, t.key[:], func(_ *row, of *record) []byte { return of.Signature[:] }))
	w.append(columnOf(t, &numbers, 0, func(_ *row, of *record) uint64 { return uint64(of.ID) }))
	w.append(columnOf(t, &numbers, 0, func(r *row, _ *record) uint64 { return uint64(r.position) }))
	w.append(t.numbers())
	w.append(columnOf(t, &numbers, 0, func(_ *row, of *record) uint64 { return of.Project }))
	w.append(columnOf(t, &times, 0, func(r *row, _ *record) int64 { return r.time }))
	w.append(columnOf(t, &times, 0, func(r *row, _ *record) int64 { return r.received }))
	w.append(columnOf(t, &raw, nothing[:], func(r *row, _ *record) []byte { return r.eventID[:] }))
	w.append(client)
	w.append(name(func(r *row) uint32 { return r.environment }))
	w.append(name(func(r *row) uint32 { return r.release }))
	w.append(columnOf(t, &numbers, 0, func(r *row, _ *record) uint64 { return r.userHash }))
	w.append(user)
	w.append(columnOf(t, &texts, "", func(r *row, _ *record) string { return r.level.String() }))
	w.append(name(func(r *row) uint32 { return r.server }))
	w.append(name(func(r *row) uint32 { return r.transaction }))
	w.append(trace)
	w.append(tags)
	w.append(columnOf(t, &numbers, uint64(t.count), func(*row, *record) uint64 { return 1 }))
	w.append(columnOf(t, &numbers, t.sequence, func(*row, *record) uint64 { return 0 }))
	return w.err
}

// columnsOfTexts returns the columns that are texts of their own. They share memory with
// the batch.
func (t *occurrenceRows) columnsOfTexts() (client, user, trace []string, tags [][]string) {
	n := t.count + 1
	client, user, trace, tags = make([]string, n), make([]string, n), make([]string, n), make([][]string, n)
	var all []string // of the tags
	for i := range t.sorted {
		texts, at := t.textsOf(&t.sorted[i]), i+1
		client[at], user[at], trace[at] = texts.text(), texts.text(), texts.text()
		begin := len(all)
		for range texts.number() {
			all = append(all, texts.text())
		}
		tags[at] = all[begin:len(all):len(all)]
	}
	return client, user, trace, tags
}

// columnWriter puts columns into a batch until one cannot be encoded.
type columnWriter struct {
	batch driver.Batch
	done  int
	err   error
}

func (w *columnWriter) append(column any) {
	if w.err != nil {
		return
	}
	if w.err = w.batch.Column(w.done).Append(column); w.err != nil {
		w.err = fmt.Errorf("encode column %d: %w", w.done, w.err)
	}
	w.done++
}
