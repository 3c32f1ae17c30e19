package projector

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/ext"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/failpoint"
)

var (
	//go:embed sql/checkpoint.sql
	sqlCheckpoint string
	//go:embed sql/current.sql
	sqlCurrent string
	//go:embed sql/present.sql
	sqlPresent string
	//go:embed sql/insert_records.sql
	sqlInsertRecords string
	//go:embed sql/insert_payloads.sql
	sqlInsertPayloads string
	//go:embed sql/insert_answer.sql
	sqlInsertAnswer string
	//go:embed sql/answer.sql
	sqlAnswer string
)

// lookupChunk is how many records one look-up asks for. 1,000 cold keys of 10 M
// take 31 to 69 ms; chunks keep one query's memory small.
const lookupChunk = 10_000

// Checkpoint says how far the projection of a shard has come, and what a
// projector needs to go on from there. It is written in the same block as the
// records that it vouches for.
type Checkpoint struct {
	// Sequence is the last fact applied; 0 before the first.
	Sequence uint64 `json:"sequence"`
	// Events counts the occurrences counted so far, Duplicates those that were
	// recognised as repeats, Poison the blocks that could not be read.
	Events     uint64 `json:"events"`
	Duplicates uint64 `json:"duplicates"`
	Poison     uint64 `json:"poison"`
	// WindowFrom is the first sequence that the window of event ids needs, and
	// WindowTime the window's clock there, in Unix milliseconds.
	WindowFrom uint64 `json:"window_from"`
	WindowTime int64  `json:"window_time"`
	// Log tells one log from another: when its stream was created, in Unix
	// nanoseconds. Sequences mean nothing in another log.
	Log int64 `json:"log"`
}

// Store is the projection in ClickHouse as the projector sees it.
type Store struct {
	conn  driver.Conn
	shard uint16
}

// NewStore returns the store of a shard.
func NewStore(conn driver.Conn, shard uint16) *Store { return &Store{conn: conn, shard: shard} }

// shardKey is the checkpoint row's place in the signature column.
func (s *Store) shardKey() (key errata.Signature) {
	binary.BigEndian.PutUint16(key[len(key)-2:], s.shard)
	return key
}

// Checkpoint reads how far the projection has come; the zero Checkpoint when
// it has not begun.
func (s *Store) Checkpoint(ctx context.Context) (Checkpoint, error) {
	var (
		version, count uint64
		text           string
		sign           int8
		cp             Checkpoint
	)
	row := s.conn.QueryRow(ctx, sqlCheckpoint, clickhouse.Named("shard", s.shardKey().String()))
	switch err := row.Scan(&version, &count, &text, &sign); {
	case errors.Is(err, sql.ErrNoRows):
		return Checkpoint{}, nil
	case err != nil:
		return Checkpoint{}, fmt.Errorf("read the checkpoint: %w", err)
	}
	if err := json.Unmarshal([]byte(text), &cp); err != nil {
		return Checkpoint{}, fmt.Errorf("decode the checkpoint at %d: %w", version, err)
	}
	if sign != 1 || cp.Sequence != version || cp.Events != count {
		return Checkpoint{}, fmt.Errorf("the checkpoint row at %d contradicts itself", version)
	}
	return cp, nil
}

// current reads the state of the given records; those that do not exist are
// left out.
func (s *Store) current(ctx context.Context, keys []recordKey, found func(errata.Record)) error {
	for len(keys) > 0 {
		n := min(len(keys), lookupChunk)
		if err := s.currentChunk(ctx, keys[:n], found); err != nil {
			return fmt.Errorf("read %d current records: %w", n, err)
		}
		keys = keys[n:]
	}
	return nil
}

func (s *Store) currentChunk(ctx context.Context, keys []recordKey, found func(errata.Record)) error {
	wanted, err := ext.NewTable("wanted", ext.Column("book", bookColumn), ext.Column("signature", "FixedString(16)"))
	if err != nil {
		return err
	}
	for _, k := range keys {
		if err := wanted.Append(k.book.String(), string(k.signature[:])); err != nil {
			return err
		}
	}
	rows, err := s.conn.Query(clickhouse.Context(ctx, clickhouse.WithExternalTable(wanted)), sqlCurrent)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		r, err := scanRecord(rows)
		if err != nil {
			return err
		}
		found(r)
	}
	return rows.Err()
}

// present reads which records may exist.
func (s *Store) present(ctx context.Context) (*presence, error) {
	rows, err := s.conn.Query(ctx, sqlPresent)
	if err != nil {
		return nil, fmt.Errorf("read which records exist: %w", err)
	}
	defer rows.Close()
	known := &presence{}
	for rows.Next() {
		var name string
		var front, back []uint64
		if err := rows.Scan(&name, &front, &back); err != nil {
			return nil, fmt.Errorf("read which records exist: %w", err)
		}
		book, _ := errata.ParseBook(name)
		for i := range front {
			known.add(hashesOf(book, front[i], back[i]))
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read which records exist: %w", err)
	}
	return known, nil
}

// commit is what one batch writes.
type commit struct {
	from, to Checkpoint
	changes  []change
	command  uint64 // sequence of the command, 0 for none
	answer   eventlog.Answer
	// salt makes the token another one, see committer.write.
	salt int
}

// token names the checkpoint that the commit follows: whoever else inserts
// after the same checkpoint uses the same token, and only one insert counts.
func (c *commit) token(shard uint16) string {
	token := strconv.Itoa(int(shard)) + "@" + strconv.FormatUint(c.from.Sequence, 10)
	if c.salt > 0 {
		token += "#" + strconv.Itoa(c.salt)
	}
	return token
}

// change is one record before and after; old is nil for a new one.
type change struct {
	old     *errata.Record
	now     errata.Record
	payload []byte // of a new record
}

// write inserts the batch: payloads and answer first, which a repeat writes
// again the same, then records and checkpoint as one block whose token says
// which checkpoint it follows. An error leaves the outcome open.
func (s *Store) write(ctx context.Context, c *commit) error {
	if err := s.writePayloads(ctx, c.changes); err != nil {
		return fmt.Errorf("insert payloads: %w", err)
	}
	failpoint.Reach(failpoint.Payloads)
	if c.command != 0 {
		if err := s.conn.Exec(ctx, sqlInsertAnswer, clickhouse.Named("sequence", c.command),
			clickhouse.Named("shard", s.shard), clickhouse.Named("answer", string(c.answer))); err != nil {
			return fmt.Errorf("insert the answer to command %d: %w", c.command, err)
		}
	}
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"async_insert": 0, "insert_deduplicate": 1, "insert_deduplication_token": c.token(s.shard),
	}))
	batch, err := s.conn.PrepareBatch(ctx, sqlInsertRecords)
	if err != nil {
		return fmt.Errorf("prepare the records: %w", err)
	}
	defer batch.Close()
	rows := newRecordRows(2*len(c.changes) + 2)
	for i := range c.changes {
		if old := c.changes[i].old; old != nil {
			rows.add(old, -1)
		}
		rows.add(&c.changes[i].now, 1)
	}
	if err := rows.addCheckpoints(s.shardKey(), c.from, c.to); err != nil {
		return err
	}
	if err := rows.appendTo(batch); err != nil {
		return fmt.Errorf("encode the records: %w", err)
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("insert records after checkpoint %d: %w", c.from.Sequence, err)
	}
	return nil
}

func (s *Store) writePayloads(ctx context.Context, changes []change) error {
	var batch driver.Batch
	for i := range changes {
		if changes[i].old != nil {
			continue
		}
		if batch == nil {
			var err error
			ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"async_insert": 0}))
			if batch, err = s.conn.PrepareBatch(ctx, sqlInsertPayloads); err != nil {
				return err
			}
			defer batch.Close() //nolint:revive // prepared at most once
		}
		now := &changes[i].now
		if err := batch.Append(now.Book.String(), string(now.Signature[:]), uint64(now.ID), string(changes[i].payload)); err != nil {
			return err
		}
	}
	if batch == nil {
		return nil
	}
	return batch.Send()
}

// Answer returns the stored answer to the command at sequence and how far the
// projection has come; see eventlog.Answers.
func (s *Store) Answer(ctx context.Context, sequence uint64) (eventlog.Answer, uint64, error) {
	cp, err := s.Checkpoint(ctx)
	if err != nil || cp.Sequence < sequence {
		return nil, cp.Sequence, err
	}
	var text string
	row := s.conn.QueryRow(ctx, sqlAnswer, clickhouse.Named("sequence", sequence), clickhouse.Named("shard", s.shard))
	if err := row.Scan(&text); err != nil {
		return nil, cp.Sequence, fmt.Errorf("read the answer to command %d: %w", sequence, err)
	}
	return eventlog.Answer(text), cp.Sequence, nil
}
