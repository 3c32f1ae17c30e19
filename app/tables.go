package app

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

//go:embed sql/unsynced_tables.sql
var sqlUnsyncedTables string

// unsyncedTables names the tables of the database that do not have on disk
// what they confirmed.
func unsyncedTables(ctx context.Context, conn driver.Conn) (names []string, err error) {
	rows, err := conn.Query(ctx, sqlUnsyncedTables)
	if err != nil {
		return nil, fmt.Errorf("read the settings of the tables: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("read the settings of the tables: %w", err)
		}
		names = append(names, name)
	}
	return names, rows.Err()
}
