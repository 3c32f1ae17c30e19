package selfcheck

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Hold keeps ClickHouse from merging the records until the first look has ended.
// After a merge nobody can see which parts are missing, so the records could not be
// taken back to the moment before them. A merge also makes damaged ClickHouse
// projections and skip indexes anew, so the damage would not be reported. Only a
// service that writes the tables alone may call it.
func Hold(ctx context.Context, conn driver.Conn) error {
	if err := conn.Exec(ctx, "SYSTEM STOP MERGES records"); err != nil {
		return fmt.Errorf("stop the merges of the records: %w", err)
	}
	return nil
}
