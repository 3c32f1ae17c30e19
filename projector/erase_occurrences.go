package projector

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

var (
	//go:embed sql/erase_hashes.sql
	sqlEraseHashes string
	//go:embed sql/erase_occurrences.sql
	sqlEraseOccurrences string
)

// eraseOccurrences removes the persons from the occurrences before the command at the
// position. A repeat finds nothing more.
func (s *Store) eraseOccurrences(ctx context.Context, e *erasure, at errata.Position) error {
	users := append([]string{}, e.users...) // never nil, see args
	for _, addr := range e.addresses {
		users = append(users, addr.String()) // clients name an unknown user by the address
	}
	args := []any{clickhouse.Named("until", uint64(at)), clickhouse.Named("users", users)}
	hashes := []uint64{}
	err := s.each(gently(ctx), "find the occurrences that are to be erased", func(rows driver.Rows) error {
		var hash uint64
		err := rows.Scan(&hash)
		hashes = append(hashes, hash)
		return err
	}, sqlEraseHashes, args...)
	if err != nil {
		return err
	}
	args = append(args, clickhouse.Named("hashes", hashes), clickhouse.Named("pattern", e.pattern()), clickhouse.Named("erased", erasedText))
	ctx, cancel := context.WithTimeout(ctx, tidyLimit)
	defer cancel()
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"mutations_sync": 2}))
	if err := s.conn.Exec(ctx, sqlEraseOccurrences, args...); err != nil {
		return fmt.Errorf("erase persons from the occurrences: %w", err)
	}
	return nil
}
