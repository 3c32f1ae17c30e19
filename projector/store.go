package projector

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/ext"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/packed"
)

var (
	//go:embed sql/checkpoint.sql
	sqlCheckpoint string
	//go:embed sql/current.sql
	sqlCurrent string
	//go:embed sql/present.sql
	sqlPresent string
	//go:embed sql/records_rows.sql
	sqlRecordsRows string
	//go:embed sql/answer.sql
	sqlAnswer string
)

// lookupChunk is how many records one look-up asks for, which bounds the memory of
// a query. 1,000 keys of 10 million records take 31 to 69 ms without a cache.
const lookupChunk = 10_000

// Store reads and writes the tables of the projection in ClickHouse.
type Store struct {
	conn    driver.Conn
	shard   uint16
	merges  *Merges
	columns keptColumns
}

// NewStore returns the store of a shard.
func NewStore(conn driver.Conn, shard uint16) *Store {
	s := &Store{conn: conn, shard: shard}
	s.merges = newMerges(s)
	return s
}

// shardKey is the value of the column signature in the checkpoint row.
func (s *Store) shardKey() (key errata.Signature) {
	binary.BigEndian.PutUint16(key[len(key)-2:], s.shard)
	return key
}

// answerKey is the value of the column signature in the row of an answer: all ones,
// then the shard and the sequence of the command.
func (s *Store) answerKey(sequence uint64) (key errata.Signature) {
	const front = 6
	for i := range front {
		key[i] = 0xff
	}
	binary.BigEndian.PutUint16(key[front:], s.shard)
	binary.BigEndian.PutUint64(key[front+2:], sequence)
	return key
}

// Checkpoint reads the checkpoint; it is the zero Checkpoint before the first
// commit.
func (s *Store) Checkpoint(ctx context.Context) (Checkpoint, error) {
	var (
		version, count uint64
		text           string
		sign           int8
	)
	row := s.conn.QueryRow(ctx, sqlCheckpoint, clickhouse.Named("shard", s.shardKey().String()))
	switch err := row.Scan(&version, &count, &text, &sign); {
	case errors.Is(err, sql.ErrNoRows):
		return Checkpoint{}, nil
	case err != nil:
		return Checkpoint{}, fmt.Errorf("read the checkpoint: %w", err)
	}
	return decodeCheckpoint(version, count, text, int64(sign))
}

// Sequence is the last folded fact.
func (s *Store) Sequence(ctx context.Context) (uint64, error) {
	cp, err := s.Checkpoint(ctx)
	return cp.Sequence, err
}

// one reads the single value that a query returns. Its error begins with what.
func one[T any](ctx context.Context, s *Store, what, query string, args ...any) (value T, err error) {
	if err := s.conn.QueryRow(ctx, query, args...).Scan(&value); err != nil {
		return value, fmt.Errorf("%s: %w", what, err)
	}
	return value, nil
}

// each calls read for every row that a query returns, until an error. Its error
// begins with what.
func (s *Store) each(ctx context.Context, what string, read func(row driver.Rows) error, query string, args ...any) error {
	rows, err := s.conn.Query(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer rows.Close()
	for err == nil && rows.Next() {
		err = read(rows)
	}
	if err = cmp.Or(err, rows.Err()); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// current reads the state of the given records at a checkpoint of the rows from to to, and
// leaves out those that do not exist. Errors: ErrRaceLost when the projection is at another
// one. Its state cannot be used then: a record that a later fact has removed
// would seem never to have existed.
func (s *Store) current(ctx context.Context, keys []recordKey, from, to uint64, found func(errata.Record)) error {
	for chunk := range slices.Chunk(keys, lookupChunk) {
		row, err := s.currentChunk(ctx, chunk, found)
		if err == nil && (row < from || row > to) {
			err = fmt.Errorf("the current records are those of checkpoint row %d, not %d to %d: %w", row, from, to, ErrRaceLost)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// currentChunk also reads the row of the checkpoint, 0 for none. One query reads
// both, so they belong together.
func (s *Store) currentChunk(ctx context.Context, keys []recordKey, found func(errata.Record)) (row uint64, err error) {
	wanted, err := ext.NewTable("wanted", ext.Column("book", bookColumn), ext.Column("signature", "FixedString(16)"))
	if err != nil {
		return 0, err
	}
	checkpoint := s.shardKey()
	if err := wanted.Append(checkpointBook, string(checkpoint[:])); err != nil {
		return 0, err
	}
	for _, k := range keys {
		if err := wanted.Append(k.book.String(), string(k.signature[:])); err != nil {
			return 0, err
		}
	}
	ctx = clickhouse.Context(ctx, clickhouse.WithExternalTable(wanted))
	err = s.each(ctx, fmt.Sprintf("read %d current records", len(keys)), func(rows driver.Rows) error {
		var (
			book, column string
			version      uint64
		)
		if err := rows.Scan(&book, &version, &column); err != nil {
			return err
		}
		if book == checkpointBook {
			row = version
			return nil
		}
		r, err := packed.Decode(column)
		if err == nil {
			found(r)
		}
		return err
	}, sqlCurrent)
	return row, err
}

// present reads the keys of all records into a filter.
func (s *Store) present(ctx context.Context) (*presence, error) {
	all, err := one[uint64](ctx, s, "count the rows of records", sqlRecordsRows)
	if err != nil {
		return nil, err
	}
	known := &presence{}
	// Four times as many ranges as elsewhere: an array that grows keeps its shorter copies until
	// the query ends.
	for _, within := range rangesOf(4*all, recordsTogether) {
		err := s.each(ctx, "read which records exist", func(rows driver.Rows) error {
			var name string
			var front, back []uint64
			err := rows.Scan(&name, &front, &back)
			book, _ := errata.ParseBook(name)
			for i := range front {
				known.add(hashesOf(book, front[i], back[i]))
			}
			return err
		}, sqlPresent, within.rangeArgs()...)
		if err != nil {
			return nil, err
		}
	}
	return known, nil
}

// Answer reads the answer to the command with the sequence, and the checkpoint; see
// [eventlog.Answers].
func (s *Store) Answer(ctx context.Context, sequence uint64) (eventlog.Answer, uint64, error) {
	cp, err := s.Checkpoint(ctx)
	if err != nil || cp.Sequence < sequence {
		return nil, cp.Sequence, err
	}
	text, err := one[string](ctx, s, fmt.Sprintf("read the answer to command %d", sequence), sqlAnswer,
		clickhouse.Named("key", s.answerKey(sequence).String()))
	return eventlog.Answer(text), cp.Sequence, err
}
