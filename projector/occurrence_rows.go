package projector

import (
	"cmp"
	_ "embed"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

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

// rowsTogether is how many rows are encoded at a time, column by column: they and their
// records stay in the cache of a processor meanwhile.
const rowsTogether = 4096

// appendTo puts the rows into the batch, in the order of the columns of
// insert_occurrences.sql. One half of the columns is encoded beside the other: at the end of a
// long log nothing else has work for the second processor.
func (t *occurrenceRows) appendTo(batch driver.Batch) error {
	w := columnWriter{batch: batch}
	t.checkpoint(&w)
	if w.err != nil {
		return w.err
	}
	var group errgroup.Group
	for _, half := range [...]func(*occurrenceColumns, *columnWriter){(*occurrenceColumns).counted, (*occurrenceColumns).described} {
		group.Go(func() error {
			columns, w := occurrenceColumns{t: t}, columnWriter{batch: batch}
			for rows := range slices.Chunk(t.sorted, rowsTogether) {
				columns.rows = rows
				half(&columns, &w)
			}
			return w.err
		})
	}
	return group.Wait()
}

// checkpoint appends the first row, which has the checkpoint.
func (t *occurrenceRows) checkpoint(w *columnWriter) {
	var nothing [16]byte
	none, zero, empty := []uint64{0}, []int64{0}, []string{""}
	for _, column := range [...]any{
		[]string{checkpointBook}, [][]byte{t.key[:]}, none, none, none, none, zero, zero, [][]byte{nothing[:]}, empty, empty, empty,
		none, empty, empty, empty, empty, empty, [][]string{nil}, []uint64{uint64(t.count)}, []uint64{t.sequence},
	} {
		w.append(column)
	}
}

// occurrenceColumns makes the columns of some rows, in memory that the next rows use again.
type occurrenceColumns struct {
	t       *occurrenceRows
	rows    []occurrence
	seen    []uint64 // rows so far, by the record's part
	records []*errata.Record
	texts   []string
	raw     [][]byte
	numbers []uint64
	times   []int64
	// Columns that are texts of their own.
	client, user, trace []string
	tags                [][]string
	allTags             []string
}

// countedColumns is the number of columns that the method counted appends.
const countedColumns = 9

// counted appends the columns that say what was counted: book to event_id.
func (c *occurrenceColumns) counted(w *columnWriter) {
	c.readRecords()
	w.next = 0
	w.append(recordColumn(c, &c.texts, func(of *errata.Record) string { return of.Book.String() }))
	w.append(recordColumn(c, &c.raw, func(of *errata.Record) []byte { return of.Signature[:] }))
	w.append(recordColumn(c, &c.numbers, func(of *errata.Record) uint64 { return uint64(of.ID) }))
	w.append(columnOf(c, &c.numbers, func(r *occurrence) uint64 { return uint64(r.position) }))
	w.append(c.number())
	w.append(recordColumn(c, &c.numbers, func(of *errata.Record) uint64 { return of.Project }))
	w.append(columnOf(c, &c.times, func(r *occurrence) int64 { return r.time }))
	w.append(columnOf(c, &c.times, func(r *occurrence) int64 { return r.received }))
	w.append(columnOf(c, &c.raw, func(r *occurrence) []byte { return r.eventID[:] }))
}

// described appends the columns that say where it happened and to whom: client_id to sequence.
func (c *occurrenceColumns) described(w *columnWriter) {
	c.readTexts()
	w.next = countedColumns
	w.append(c.client)
	w.append(c.name(func(r *occurrence) uint32 { return r.environment }))
	w.append(c.name(func(r *occurrence) uint32 { return r.release }))
	w.append(columnOf(c, &c.numbers, func(r *occurrence) uint64 { return r.userHash }))
	w.append(c.user)
	w.append(columnOf(c, &c.texts, func(r *occurrence) string { return r.level.String() }))
	w.append(c.name(func(r *occurrence) uint32 { return r.server }))
	w.append(c.name(func(r *occurrence) uint32 { return r.transaction }))
	w.append(c.trace)
	w.append(c.tags)
	w.append(columnOf(c, &c.numbers, func(*occurrence) uint64 { return 1 }))
	w.append(columnOf(c, &c.numbers, func(*occurrence) uint64 { return 0 }))
}

// columnOf makes a column of the rows, in the memory of one that is with the driver already.
func columnOf[T any](c *occurrenceColumns, memory *[]T, value func(row *occurrence) T) []T {
	column := (*memory)[:0]
	for i := range c.rows {
		column = append(column, value(&c.rows[i]))
	}
	*memory = column
	return column
}

// recordColumn makes a column of the records of the rows, likewise.
func recordColumn[T any](c *occurrenceColumns, memory *[]T, value func(of *errata.Record) T) []T {
	column := (*memory)[:0]
	for _, of := range c.records {
		column = append(column, value(of))
	}
	*memory = column
	return column
}

func (c *occurrenceColumns) name(number func(r *occurrence) uint32) []string {
	return columnOf(c, &c.texts, func(r *occurrence) string { return c.t.names.list[number(r)] })
}

// number is the number of each row among all occurrences of its record. The last row of a
// record has its count, whether or not the table holds earlier ones already.
func (c *occurrenceColumns) number() []uint64 {
	if c.seen == nil {
		c.seen = make([]uint64, len(c.t.owners))
	}
	return columnOf(c, &c.numbers, func(r *occurrence) uint64 {
		owner := c.t.owners[r.part]
		c.seen[owner.part]++
		return owner.record.Count - owner.rows + c.seen[owner.part]
	})
}

// readRecords finds the records of the rows.
func (c *occurrenceColumns) readRecords() {
	c.records = c.records[:0]
	for i := range c.rows {
		c.records = append(c.records, c.t.owners[c.rows[i].part].record)
	}
}

// readTexts makes the columns that are texts of their own, which share memory with the batch.
func (c *occurrenceColumns) readTexts() {
	c.client, c.user, c.trace, c.tags, c.allTags = c.client[:0], c.user[:0], c.trace[:0], c.tags[:0], c.allTags[:0]
	for i := range c.rows {
		texts := c.t.textsOf(&c.rows[i])
		c.client, c.user, c.trace = append(c.client, texts.text()), append(c.user, texts.text()), append(c.trace, texts.text())
		begin := len(c.allTags) // what is there before stays where it is when the list grows
		for range texts.number() {
			c.allTags = append(c.allTags, texts.text())
		}
		c.tags = append(c.tags, c.allTags[begin:len(c.allTags):len(c.allTags)])
	}
}

// columnWriter puts columns into a batch until one cannot be encoded.
type columnWriter struct {
	batch driver.Batch
	next  int // column
	err   error
}

func (w *columnWriter) append(column any) {
	if w.err != nil {
		return
	}
	if w.err = w.batch.Column(w.next).Append(column); w.err != nil {
		w.err = fmt.Errorf("encode column %d: %w", w.next, w.err)
	}
	w.next++
}
