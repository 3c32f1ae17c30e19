package projector

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

var (
	//go:embed sql/sweep_count.sql
	sqlSweepCount string
	//go:embed sql/sweep.sql
	sqlSweep string
	//go:embed sql/sweep_contexts.sql
	sqlSweepContexts string
)

// sweepSize is about how many records one insert of a cleanup removes. An insert of
// more than 1,048,576 rows is not atomic, and large ones delay the fold. Small ones
// read more granules twice, at the ends of their ranges. Only tests change it.
var sweepSize uint64 = 100_000

const (
	// maxSweepChunks is the largest number of ranges: they are cut by the first two
	// bytes.
	maxSweepChunks = 1 << 16
	// maxBlockRows is ClickHouse's own limit for a block.
	maxBlockRows = 1 << 20
)

// sweepChunk is what one insert of a cleanup removes: the records last seen up to
// before whose signatures are in a range, both ends included.
type sweepChunk struct {
	before      time.Time
	within      []uint64 // of these projects; empty for all
	first, last errata.Signature
	takes       Totals // of the records in it, after sweepCount
}

// chunk returns number i of n ranges of equal width. Signatures are parts of a
// SHA-256, so such ranges hold about equally many records.
func (s sweep) chunk(i, n int) *sweepChunk {
	c := &sweepChunk{before: s.before, within: s.within}
	from, to := i*maxSweepChunks/n, (i+1)*maxSweepChunks/n-1
	c.first[0], c.first[1] = byte(from>>8), byte(from)
	for k := range c.last {
		c.last[k] = 0xff
	}
	c.last[0], c.last[1] = byte(to>>8), byte(to)
	return c
}

// recordsTogether is about how many records one query looks up. ClickHouse keeps a key of each in
// memory, and has too little for those of 10 M. Only tests change it.
var recordsTogether uint64 = 1_000_000

// chunksOf says how many ranges of signatures are needed for so many records, when a range may have
// about each of them.
func chunksOf(records, each uint64) int { return int(min(records/each+1, maxSweepChunks)) }

// rangesOf are these ranges.
func rangesOf(records, each uint64) (all []*sweepChunk) {
	n := chunksOf(records, each)
	for i := range n {
		all = append(all, sweep{}.chunk(i, n))
	}
	return all
}

// covers says whether the signature is in the range.
func (c *sweepChunk) covers(s errata.Signature) bool {
	return bytes.Compare(c.first[:], s[:]) <= 0 && bytes.Compare(s[:], c.last[:]) <= 0
}

func (c *sweepChunk) args() []any {
	within := c.within
	if within == nil {
		within = []uint64{} // nil would be NULL
	}
	return append(c.rangeArgs(), clickhouse.Named("before", c.before.UnixMilli()), clickhouse.Named("projects", within))
}

// rangeArgs are the arguments for the ends of the range.
func (c *sweepChunk) rangeArgs() []any {
	return []any{
		clickhouse.Named("first", hex.EncodeToString(c.first[:])), clickhouse.Named("last", hex.EncodeToString(c.last[:])),
	}
}

// sweepChunks returns how many inserts a cleanup takes.
func (s *Store) sweepChunks(ctx context.Context, sw sweep) (int, error) {
	removed, err := s.sweepCount(ctx, sw.chunk(0, 1))
	if err != nil {
		return 0, err
	}
	return chunksOf(removed.records(), sweepSize), nil
}

// sweepCount counts what the chunk removes from each book.
func (s *Store) sweepCount(ctx context.Context, c *sweepChunk) (removed Totals, err error) {
	err = s.each(gently(ctx), "count what the cleanup removes", func(rows driver.Rows) error {
		var name string
		var records, count int64
		err := rows.Scan(&name, &records, &count)
		removed.set(name, records, count)
		return err
	}, sqlSweepCount, c.args()...)
	return removed, err
}

// sweepContexts empties the contexts of the records in the range that are older
// than the cleanup at sequence. It must come before any of them is removed. A
// repeat writes the same rows.
func (s *Store) sweepContexts(ctx context.Context, c *sweepChunk, sequence uint64) error {
	args := append(c.args(), clickhouse.Named("until", uint64(errata.PositionOf(sequence, 0))))
	if err := s.conn.Exec(gently(ctx), sqlSweepContexts, args...); err != nil {
		return fmt.Errorf("empty the payloads that the cleanup removes: %w", err)
	}
	return nil
}

// sweepRecords removes the records of the commit's chunk and moves the checkpoint,
// in one block that counts once. After an error it may have happened.
func (s *Store) sweepRecords(ctx context.Context, c *commit) error {
	text, err := c.to.encode()
	if err != nil {
		return err
	}
	args := append(c.sweep.args(),
		clickhouse.Named("shard", s.shardKey().String()),
		clickhouse.Named("to_row", c.to.Row), clickhouse.Named("to_count", c.to.Events),
		clickhouse.Named("to_text", hex.EncodeToString([]byte(text))),
		clickhouse.Named("answer_sequence", c.command), clickhouse.Named("answer_text", hex.EncodeToString(c.answer)),
	)
	key := ""
	if c.command != 0 {
		key = s.answerKey(c.command).String()
	}
	args = append(args, clickhouse.Named("answer_key", key))
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"insert_deduplicate": 1, "insert_deduplication_token": c.token(s.shard),
		"async_insert": 0, "max_threads": 1, "max_insert_threads": 1, settingLateIndex: lateIndexes,
		// The sort returns one block, which must not be joined or cut.
		"max_block_size": maxBlockRows, "min_insert_block_size_rows": maxBlockRows, "max_insert_block_size": maxBlockRows,
		"min_insert_block_size_bytes": 0, "preferred_block_size_bytes": 0,
	}))
	if err := s.conn.Exec(ctx, sqlSweep, args...); err != nil {
		return fmt.Errorf("remove a chunk of the cleanup: %w", err)
	}
	return nil
}

// gently returns a context in which a statement uses one processor at most.
func gently(ctx context.Context) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"async_insert": 0, "max_threads": 1}))
}
