package projector

import (
	"context"
	_ "embed"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	errata "github.com/errata-log/errata"
)

var (
	//go:embed sql/sweep_size.sql
	sqlSweepSize string
	//go:embed sql/sweep.sql
	sqlSweep string
	//go:embed sql/sweep_contexts.sql
	sqlSweepContexts string
)

// sweepSize is about how many records one insert of a cleanup removes: 8 MB of
// them in memory, far below the 1,048,576 rows beyond which an insert is not
// atomic. With 100,000 the slowest ingestion beside it took 379 ms, with 20,000
// 107, for 0.7 s more of half a million. Only tests change it.
//
// The rows pass through here, although the engine could insert from a select:
// a token guards such an insert source block by source block and not as a
// whole, so that it is no compare-and-set.
var sweepSize int64 = 20_000

const (
	// maxSweepChunks is as fine as ranges are cut: by the first two bytes.
	maxSweepChunks = 1 << 16
	// maxBlockRows is ClickHouse's own limit of a block.
	maxBlockRows = 1 << 20
)

// sweepChunk is what one insert of a cleanup removes: records last seen up to
// before whose signatures lie in a range, both ends included.
type sweepChunk struct {
	before      time.Time
	first, last errata.Signature
}

// chunk is number i of n ranges of equal width. Signatures are cut from a
// SHA-256, so that ranges of equal width hold equally many.
func (s sweep) chunk(i, n int) *sweepChunk {
	c := &sweepChunk{before: s.before}
	from, to := i*maxSweepChunks/n, (i+1)*maxSweepChunks/n-1
	c.first[0], c.first[1] = byte(from>>8), byte(from)
	for k := range c.last {
		c.last[k] = 0xff
	}
	c.last[0], c.last[1] = byte(to>>8), byte(to)
	return c
}

func (c *sweepChunk) args() []any {
	return []any{
		clickhouse.Named("before", c.before.UnixMilli()),
		clickhouse.Named("first", hex.EncodeToString(c.first[:])), clickhouse.Named("last", hex.EncodeToString(c.last[:])),
	}
}

// sweepChunks is how many inserts a cleanup takes.
func (s *Store) sweepChunks(ctx context.Context, sw sweep) (int, error) {
	var records int64
	row := s.conn.QueryRow(ctx, sqlSweepSize, clickhouse.Named("before", sw.before.UnixMilli()))
	if err := row.Scan(&records); err != nil {
		return 0, fmt.Errorf("count what the cleanup removes: %w", err)
	}
	return int(min(max(records, 0)/sweepSize+1, maxSweepChunks)), nil
}

// sweepContexts empties the contexts of the records in the range. It comes
// before any of them is removed; a repeat writes the same.
func (s *Store) sweepContexts(ctx context.Context, c *sweepChunk) error {
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"async_insert": 0, "max_threads": 1}))
	if err := s.conn.Exec(ctx, sqlSweepContexts, c.args()...); err != nil {
		return fmt.Errorf("empty the payloads of a chunk of the cleanup: %w", err)
	}
	return nil
}

// sweepRecords reads the records that the chunk removes, as changes that remove
// them.
func (s *Store) sweepRecords(ctx context.Context, c *sweepChunk) (changes []change, err error) {
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"max_threads": 1}))
	rows, err := s.conn.Query(ctx, sqlSweep, c.args()...)
	if err != nil {
		return nil, fmt.Errorf("read what a chunk of the cleanup removes: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		r, err := scanRecord(rows)
		if err != nil {
			return nil, fmt.Errorf("read what a chunk of the cleanup removes: %w", err)
		}
		changes = append(changes, change{key: recordKey{r.Book, r.Signature}, old: &r, swept: true})
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read what a chunk of the cleanup removes: %w", err)
	}
	if len(changes) > maxBlockRows/2 {
		return nil, fmt.Errorf("a chunk of the cleanup would remove %d records, which is not one block", len(changes))
	}
	return changes, nil
}
