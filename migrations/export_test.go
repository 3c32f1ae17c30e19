package migrations

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// ApplyForTest applies other files than those of the program.
var ApplyForTest = apply

// SetGranulesForTest is the step after the files, on a connection.
func SetGranulesForTest(ctx context.Context, conn driver.Conn) error {
	return setGranules(ctx, conn, granuleWait)
}

// SetGranuleWait sets how long a node waits for another one.
func SetGranuleWait(wait time.Duration) (restore func()) {
	old := granuleWait
	granuleWait = wait
	return func() { granuleWait = old }
}
