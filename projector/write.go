package projector

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

var (
	//go:embed sql/insert_records.sql
	sqlInsertRecords string
	//go:embed sql/insert_contexts.sql
	sqlInsertContexts string
)

// commit is one step of the projection: one insert into the table records.
type commit struct {
	from, to Checkpoint
	changes  []change
	occurred *occurrences // of the events in changes; nil for none
	// decide decides which of the events fire rules of alerts; nil where there are none.
	decide func(ctx context.Context) (decided, error)
	// sweep is the chunk of a cleanup that the step removes, nil for none.
	sweep *sweepChunk
	// command is the sequence of the command that ends with this step, 0 for none.
	command uint64
	answer  eventlog.Answer
	// salt makes another token; see settle.
	salt int
}

// sequence is the last fact whose changes the commit has. A command of several commits
// has not passed the checkpoint before the last of them.
func (c *commit) sequence() uint64 { return max(c.to.Sequence, c.to.Sweep.Sequence) }

// token names the checkpoint that the commit follows. Another projector that
// inserts after the same checkpoint uses the same token, and only one insert
// counts.
func (c *commit) token(shard uint16) string { return token(shard, c.from.Row, c.salt) }

// token names the state of a shard that an insert follows; each salt makes another
// one.
func token(shard uint16, from uint64, salt int) string {
	if salt > 0 {
		return fmt.Sprintf("%d@%d#%d", shard, from, salt)
	}
	return fmt.Sprintf("%d@%d", shard, from)
}

// write inserts the step: records, checkpoint and answer, as one block with the token.
// What must be there before it is written by committer.precede. After an error the
// insert may have happened.
func (s *Store) write(ctx context.Context, c *commit) (*receipt, error) {
	if c.sweep != nil {
		return nil, s.sweepRecords(ctx, c)
	}
	receipt, err := s.writeRecords(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("insert records after checkpoint %d: %w", c.from.Row, err)
	}
	return receipt, nil
}

// settingLateIndex lets inserts leave out an index, which the merges then build:
// the part of a batch is small and fast to scan without it, and the n-grams of a
// thousand new records take a fifth of the time of their insert.
const settingLateIndex, lateIndex = "exclude_materialize_skip_indexes_on_insert", "ix_texts"

// lateContextIndex is the same for contexts.
const lateContextIndex = "ix_words"

// lateIndexes are the indexes that a cleanup leaves out: its rows, a hundred
// thousand at a time, only cancel others, and disappear at the next merge.
const lateIndexes = lateIndex + ",ix_user,ix_ip,ix_signature"

// serverDictionaries lets the server make the dictionaries of LowCardinality columns: the
// driver does it value by value, through reflection.
var serverDictionaries = clickhouse.Settings{"low_cardinality_allow_in_native_format": 0}

func (s *Store) writeRecords(ctx context.Context, c *commit) (*receipt, error) {
	ctx, receipt := once(ctx, c.token(s.shard), serverDictionaries)
	batch, err := s.conn.PrepareBatch(ctx, sqlInsertRecords)
	if err != nil {
		return nil, err
	}
	defer batch.Close()
	const others = 3 // two checkpoints and an answer
	n := others
	for i := range c.changes {
		if c.changes[i].old != nil {
			n++
		}
		if c.changes[i].now != nil {
			n++
		}
	}
	rows := newRecordRows(n)
	for i := range c.changes {
		if old := c.changes[i].old; old != nil {
			rows.add(old, -1)
		}
		if now := c.changes[i].now; now != nil {
			rows.add(now, 1)
		}
	}
	if err := rows.addCheckpoints(s.shardKey(), c.from, c.to); err != nil {
		return nil, err
	}
	if c.command != 0 {
		rows.addAnswer(s.answerKey(c.command), c.command, c.answer)
	}
	if err := rows.appendTo(batch); err != nil {
		return nil, err
	}
	return receipt, batch.Send()
}

// contextChunk is how many bytes of contexts are sent at a time, so that the server
// works while the next are collected, and no buffer grows to the size of a batch. The
// server makes one part of all of them.
const contextChunk = 1 << 20

// writePayloads writes the contexts of new records, and an empty one for each
// removed record, which a merge then keeps. It may come before the insert of the
// records: a command on the log is carried out in any case. A repeat writes the same
// rows.
func (s *Store) writePayloads(ctx context.Context, changes []change) (err error) {
	w := contextWriter{store: s}
	defer func() {
		if w.batch != nil {
			_ = w.batch.Close() // sent, or in error already
		}
	}()
	for i := range changes {
		c := &changes[i]
		if c.removed() {
			err = w.add(ctx, &c.key, c.old.ID, nil, 1)
		}
		if id := c.fleeting(); id != 0 && err == nil {
			err = w.add(ctx, &c.key, id, nil, 1)
		}
		if c.created() && err == nil {
			err = w.add(ctx, &c.key, c.now.ID, c.payload, 0)
		}
		if err != nil {
			return err
		}
	}
	return w.send()
}

// contextWriter inserts rows into the table contexts.
type contextWriter struct {
	store    *Store
	batch    driver.Batch // nil before the first row
	payloads driver.BatchColumn
	payload  []byte
	// The rows that are not sent yet, without their payloads, which are in the batch.
	book      []string
	signature [][]byte
	id        []uint64
	gone      []uint8
	pending   int // bytes of the payloads
}

// contextPayload is the place of the payload among the columns of insert_contexts.sql.
const contextPayload = 3

func (w *contextWriter) add(ctx context.Context, key *recordKey, id errata.Position, payload []byte, gone uint8) (err error) {
	if w.batch == nil {
		ctx := clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"async_insert": 0, settingLateIndex: lateContextIndex}))
		if w.batch, err = w.store.conn.PrepareBatch(ctx, sqlInsertContexts); err != nil {
			return err
		}
		w.payloads = w.batch.Column(contextPayload)
	}
	w.book, w.signature = append(w.book, key.book.String()), append(w.signature, key.signature[:])
	w.id, w.gone = append(w.id, uint64(id)), append(w.gone, gone)
	w.payload = payload
	if err := w.payloads.AppendRow(&w.payload); err != nil { // the address, because a slice would be copied to the heap
		return err
	}
	if w.pending += len(payload); w.pending < contextChunk {
		return nil
	}
	if err := w.fill(); err != nil {
		return err
	}
	return w.batch.Flush()
}

// fill puts the other columns beside the payloads.
func (w *contextWriter) fill() error {
	for i, column := range [...]any{w.book, w.signature, w.id, nil, w.gone} {
		if column == nil {
			continue
		}
		if err := w.batch.Column(i).Append(column); err != nil {
			return fmt.Errorf("encode column %d: %w", i, err)
		}
	}
	w.book, w.signature, w.id, w.gone, w.pending = w.book[:0], w.signature[:0], w.id[:0], w.gone[:0], 0
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
