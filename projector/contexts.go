package projector

import (
	"context"
	_ "embed"
	"fmt"
	"iter"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

var (
	//go:embed sql/insert_contexts.sql
	sqlInsertContexts string
	//go:embed sql/insert_contexts_searched.sql
	sqlInsertContextsSearched string
)

const (
	// contextChunk is how many bytes of contexts are sent at a time, so that the server
	// works while the next are collected, and no buffer grows to the size of a batch. The
	// server makes one part of all of them.
	contextChunk = 1 << 20
	// lateContextIndex is an index that only merges build, like lateIndex.
	lateContextIndex = "ix_words"
	// contextPayload is the place of the payload among the columns of both inserts.
	contextPayload = 3
)

// searchedFrom is from how many changes on two inserts, one with what a search sees and one without
// it, are less work than one that lets the server read all contexts. Only tests change it.
var searchedFrom = 1000

// contextRow is a row of the table contexts.
type contextRow struct {
	key     *recordKey
	id      errata.Position
	payload []byte
	gone    uint8
}

// contextsOf are the contexts of new records, and an empty one for each removed record, which a
// merge then keeps.
func contextsOf(changes []change) iter.Seq[contextRow] {
	return func(yield func(contextRow) bool) {
		for i := range changes {
			c := &changes[i]
			if c.removed() && !yield(contextRow{key: &c.key, id: c.old.ID, gone: 1}) {
				return
			}
			if id := c.fleeting(); id != 0 && !yield(contextRow{key: &c.key, id: id, gone: 1}) {
				return
			}
			if c.created() && !yield(contextRow{key: &c.key, id: c.now.ID, payload: c.payload}) {
				return
			}
		}
	}
}

// writePayloads writes the contexts of the changes. It may come before the insert of the
// records: a command on the log is carried out in any case. A repeat writes the same
// rows.
func (s *Store) writePayloads(ctx context.Context, changes []change) error {
	if len(changes) < searchedFrom {
		return s.writeContexts(ctx, contextsOf(changes))
	}
	others, err := s.writeSearched(ctx, contextsOf(changes))
	if err != nil {
		return err
	}
	return s.writeContexts(ctx, slices.Values(others))
}

// writeContexts writes contexts of which the server finds out what a search sees.
func (s *Store) writeContexts(ctx context.Context, rows iter.Seq[contextRow]) error {
	w := contextWriter{store: s}
	defer w.close()
	for row := range rows {
		if err := w.add(ctx, &row); err != nil {
			return err
		}
	}
	return w.send()
}

// writeSearched writes the contexts of which it finds out itself what a search sees, and returns
// the others.
func (s *Store) writeSearched(ctx context.Context, rows iter.Seq[contextRow]) (others []contextRow, err error) {
	w := contextWriter{store: s, searched: true}
	defer w.close()
	seen := newSearched()
	for row := range rows {
		if !seen.read(row.payload) {
			others = append(others, row)
			continue
		}
		w.words, w.eventID = append(w.words, string(seen.words)), append(w.eventID, string(seen.eventID))
		if err := w.add(ctx, &row); err != nil {
			return nil, err
		}
	}
	return others, w.send()
}

// contextWriter inserts rows into the table contexts.
type contextWriter struct {
	store    *Store
	searched bool         // words and eventID are sent too
	batch    driver.Batch // nil before the first row
	payloads driver.BatchColumn
	payload  []byte
	// The rows that are not sent yet, without their payloads, which are in the batch.
	book      []string
	signature [][]byte
	id        []uint64
	gone      []uint8
	words     []string
	eventID   []string
	pending   int // bytes of the payloads
}

func (w *contextWriter) begin(ctx context.Context) (err error) {
	statement := sqlInsertContexts
	settings := clickhouse.Settings{"async_insert": 0, settingLateIndex: lateContextIndex}
	if w.searched {
		statement, settings["insert_allow_materialized_columns"] = sqlInsertContextsSearched, 1
	}
	if w.batch, err = w.store.prepareBatch(clickhouse.Context(ctx, clickhouse.WithSettings(settings)), statement); err != nil {
		return err
	}
	w.payloads = w.batch.Column(contextPayload)
	return nil
}

func (w *contextWriter) add(ctx context.Context, row *contextRow) error {
	if w.batch == nil {
		if err := w.begin(ctx); err != nil {
			return err
		}
	}
	w.book, w.signature = append(w.book, row.key.book.String()), append(w.signature, row.key.signature[:])
	w.id, w.gone = append(w.id, uint64(row.id)), append(w.gone, row.gone)
	w.payload = row.payload
	if err := w.payloads.AppendRow(&w.payload); err != nil { // the address, because a slice would be copied to the heap
		return err
	}
	if w.pending += len(row.payload); w.pending < contextChunk {
		return nil
	}
	if err := w.fill(); err != nil {
		return err
	}
	return w.batch.Flush()
}

// fill puts the other columns beside the payloads.
func (w *contextWriter) fill() error {
	columns := []any{w.book, w.signature, w.id, nil, w.gone, w.words, w.eventID}
	if !w.searched {
		columns = columns[:5]
	}
	for i, column := range columns {
		if column == nil {
			continue
		}
		if err := w.batch.Column(i).Append(column); err != nil {
			return fmt.Errorf("encode column %d: %w", i, err)
		}
	}
	w.book, w.signature, w.id, w.gone, w.pending = w.book[:0], w.signature[:0], w.id[:0], w.gone[:0], 0
	w.words, w.eventID = w.words[:0], w.eventID[:0]
	return nil
}

// send sends the rest.
func (w *contextWriter) send() error {
	if w.batch == nil {
		return nil
	}
	if err := w.fill(); err != nil {
		return err
	}
	return w.batch.Send()
}

func (w *contextWriter) close() {
	if w.batch != nil {
		_ = w.batch.Close() // sent, or in error already
	}
}
