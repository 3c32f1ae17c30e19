package selfcheck

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/query"
)

// Hold keeps ClickHouse from merging the records if some of them are missing or
// damaged: a merge across the hole would hide where it is, and with it the
// moment to take the records back to. Whatever mends them lets the merges go on.
// It is one small query, for the start of a service that writes the tables
// alone, and leaves it to the first look to say what is wrong.
func Hold(ctx context.Context, conn driver.Conn, store *projector.Store) error {
	cp, have, err := store.Count(ctx, projector.CountOptions{})
	switch {
	case err != nil && !query.IsDamage(err):
		return err
	case err == nil && (!cp.Totals.Known || cp.Totals.Difference(have) == ""):
		return nil
	}
	if err := conn.Exec(ctx, "SYSTEM STOP MERGES records"); err != nil {
		return fmt.Errorf("stop the merges of the records: %w", err)
	}
	return nil
}
