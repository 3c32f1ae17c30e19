package selfcheck

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Hold keeps ClickHouse from merging the records until the first look has ended.
// A merge across parts that are missing would hide where they were, and with it
// the moment to take the records back to; a merge of a part whose ClickHouse
// projections or skip indexes are damaged makes these anew, so that nobody would
// learn of it. It is for the start of a service that writes the tables alone.
func Hold(ctx context.Context, conn driver.Conn) error {
	if err := conn.Exec(ctx, "SYSTEM STOP MERGES records"); err != nil {
		return fmt.Errorf("stop the merges of the records: %w", err)
	}
	return nil
}
