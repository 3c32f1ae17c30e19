package projector

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
)

var (
	//go:embed sql/gone_occurrences.sql
	sqlGoneOccurrences string
	//go:embed sql/delete_gone_latest.sql
	sqlDeleteGoneLatest string
	//go:embed sql/delete_gone_occurrences.sql
	sqlDeleteGoneOccurrences string
)

// removeGone deletes the occurrences, with their contexts, of the records that were
// removed by the facts after one and up to another, which must not be after the
// checkpoint: earlier an insert may still bring some. Nobody sees them any more, so it does
// not matter when this happens. It returns when the rows are deleted; a merge takes them
// from the disk.
func (s *Store) removeGone(ctx context.Context, after, to uint64) error {
	args := []any{clickhouse.Named("after", after), clickhouse.Named("to", to)}
	gone, err := one[uint64](ctx, s, "count the occurrences of removed records", sqlGoneOccurrences, args...)
	if err != nil || gone == 0 {
		return err
	}
	// The occurrences last: only they tell the next try that something is left.
	for _, statement := range []string{sqlDeleteGoneLatest, sqlDeleteGoneOccurrences} {
		if err := s.delete(ctx, statement, args...); err != nil {
			return fmt.Errorf("delete the occurrences of removed records: %w", err)
		}
	}
	return nil
}
