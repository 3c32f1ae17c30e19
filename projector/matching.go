package projector

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/packed"
	"github.com/errata-log/errata/query"
)

//go:embed sql/matching_count.sql sql/matching_records.sql
var matchingFiles embed.FS

// matchingSQL takes the condition of a filter, which is text of the package query
// and has no value in it.
var matchingSQL = template.Must(template.ParseFS(matchingFiles, "sql/*.sql"))

// matching are the records that a filter of lists selects: a command over a filter
// changes what its sender saw, so both use the same conditions.
type matching struct {
	condition string
	args      []any
}

// newMatching are the records of the projects that the filter selects; no projects
// means all.
func newMatching(filter json.RawMessage, within []uint64) (*matching, error) {
	f, err := query.DecodeFilter(filter)
	if err != nil {
		return nil, err
	}
	condition, args, err := f.Condition()
	if len(within) > 0 {
		condition += "\n      AND has({within:Array(UInt64)}, project)"
		args = append(args, clickhouse.Named("within", within))
	}
	return &matching{condition, args}, err
}

// statement fills in a file of sql/.
func (m *matching) statement(file string, c *sweepChunk) (text string, args []any, err error) {
	var filled strings.Builder
	if err := matchingSQL.ExecuteTemplate(&filled, file, m.condition); err != nil {
		return "", nil, fmt.Errorf("fill in %s: %w", file, err)
	}
	return filled.String(), append(c.rangeArgs(), m.args...), nil
}

// matchingChunks returns how many inserts the changes take.
func (s *Store) matchingChunks(ctx context.Context, m *matching) (int, error) {
	text, args, err := m.statement("matching_count.sql", sweep{}.chunk(0, 1))
	if err != nil {
		return 0, err
	}
	records, err := one[uint64](gently(ctx), s, "count the records that match", text, args...)
	return chunksOf(records, chunkSize), err
}

// matched returns the changes of the edit to the records in the range.
func (s *Store) matched(ctx context.Context, m *matching, c *sweepChunk, edit func(errata.Record) *errata.Record) (changes []change, err error) {
	text, args, err := m.statement("matching_records.sql", c)
	if err != nil {
		return nil, err
	}
	err = s.each(gently(ctx), "read the records that match", func(rows driver.Rows) error {
		var column string
		if err := rows.Scan(&column); err != nil {
			return err
		}
		old, err := packed.Decode(column)
		changes = append(changes, change{key: recordKey{old.Book, old.Signature}, old: &old, now: edit(old)})
		return err
	}, text, args...)
	return changes, err
}

// changing is the work of a command over a filter.
func (s *Store) changing(cmd *command) chunkWork {
	return chunkWork{
		chunks: func(ctx context.Context) (int, error) { return s.matchingChunks(ctx, cmd.matching) },
		changes: func(ctx context.Context, c *sweepChunk) ([]change, error) {
			return s.matched(ctx, cmd.matching, c, cmd.edit)
		},
	}
}
