package migrations

import (
	"context"
	"errors"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// tableNames are the tables that the files make. The last is the history of the files: a copy
// that has it has all others.
var tableNames = []string{
	"activity", "contexts", "deployments", "firings", "hourly", "latest_contexts", "module_log", "occurrences", "payloads",
	"query_log", recordsName, tableName,
}

// Connect makes the tables in a database beside the one that the options name, and
// returns a connection to it. Tables of an older version are changed to those of today. A
// database without tables gets copies of the tables in the database from, which is faster.
// When from is "", or when one of its tables is missing, the files make the tables.
func Connect(ctx context.Context, options *clickhouse.Options, from string) func(database string) (driver.Conn, error) {
	return func(database string) (driver.Conn, error) {
		beside := *options
		beside.Auth.Database = database
		conn, err := clickhouse.Open(&beside)
		if err != nil {
			return nil, fmt.Errorf("migrations: connect to ClickHouse: %w", err)
		}
		if from != "" {
			_ = CopyTables(ctx, conn, from) // after an error the files make what is missing
		}
		if err := ClickHouse(ctx, &beside); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		return conn, nil
	}
}

// CopyTables makes empty copies of all tables of the database from in the database of the
// connection. Only the history of the files is copied with its rows. The files would take ten
// times as long. It does nothing when there are tables already, or when tables of from have
// replicas. After an error some copies may be there.
func CopyTables(ctx context.Context, conn driver.Conn, from string) error {
	var copyable uint8
	if err := askStep(ctx, conn, "copyable.sql", &copyable, clickhouse.Named("from", from)); err != nil {
		return fmt.Errorf("migrations: look at the tables of %s: %w", from, err)
	}
	if copyable == 0 {
		return nil
	}
	for _, name := range tableNames {
		if err := runStep(ctx, conn, "copy.sql", map[string]string{"From": quoted(from), "Table": name}); err != nil {
			return fmt.Errorf("migrations: copy the table %s: %w", name, err)
		}
	}
	if err := runStep(ctx, conn, "history.sql", map[string]string{"From": quoted(from), "History": tableName}); err != nil {
		return fmt.Errorf("migrations: copy which files were applied: %w", err)
	}
	return nil
}
