package projector

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
)

var (
	//go:embed sql/gone_records.sql
	sqlGoneRecords string
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
	records, err := one[uint64](ctx, s, "count removed records", sqlGoneRecords, args...)
	if err != nil || records == 0 {
		return err
	}
	for _, within := range rangesOf(records, recordsTogether) {
		if err := s.removeGoneIn(ctx, within, args); err != nil {
			return err
		}
	}
	return nil
}

// removeGoneIn deletes those of the records in a range of signatures.
func (s *Store) removeGoneIn(ctx context.Context, c *sweepChunk, args []any) error {
	args = append(c.rangeArgs(), args...)
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
