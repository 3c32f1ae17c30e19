package testenv

import (
	"context"
	"errors"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/migrations"
)

// templateDatabase is the database of the embedded engine from which each test's
// tables are copied: that of the seed.
const templateDatabase = engine.DefaultDatabase

// makeTables makes the test's tables. In an embedded engine each test gets copies of
// the seed's, which takes a fifth of the time that the migrations take.
func (e *Env) makeTables(ctx context.Context) error {
	if e.clickhouse == nil {
		return migrations.ClickHouse(ctx, e.ClickHouseOptions())
	}
	return copyTables(ctx, e.ClickHouse)
}

// copyTables makes copies of the seed's tables in the connection's database, which
// has none.
func copyTables(ctx context.Context, conn driver.Conn) error {
	names, err := sharedClickHouse.template(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := conn.Exec(ctx, fmt.Sprintf("CREATE TABLE `%s` AS `%s`.`%s`", name, templateDatabase, name)); err != nil {
			return fmt.Errorf("copy the table %s: %w", name, err)
		}
	}
	// The list of applied migrations.
	return conn.Exec(ctx, "INSERT INTO schema_migrations SELECT * FROM `"+templateDatabase+"`.schema_migrations")
}

// Connect connects to a database beside the test's own, and gives it the tables of
// today, for a projection that is made again there. Tables that it has already are
// migrated, as the service does.
func (e *Env) Connect(ctx context.Context, database string) (driver.Conn, error) {
	options := e.ClickHouseOptions()
	options.Auth.Database = database
	conn, err := clickhouse.Open(options)
	if err != nil {
		return nil, err
	}
	var there uint64
	err = conn.QueryRow(ctx, "SELECT count() FROM system.tables WHERE database = currentDatabase()").Scan(&there)
	switch {
	case err != nil:
	case there > 0 || e.clickhouse == nil:
		err = migrations.ClickHouse(ctx, options)
	default:
		err = copyTables(ctx, conn)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// template returns the names of the template's tables.
func (s *shared) template(ctx context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tables) > 0 {
		return s.tables, nil
	}
	err := s.ch.Conn().QueryRow(ctx, "SELECT arraySort(groupArray(name)) FROM system.tables WHERE database = ?", templateDatabase).Scan(&s.tables)
	if err != nil {
		return nil, fmt.Errorf("list the tables that are copied: %w", err)
	}
	return s.tables, nil
}

// aborted is the code with which ClickHouse refuses a merge because merges are stopped.
const aborted = 236

// Optimize merges a table of this test into one part. stopped says that ClickHouse does not,
// because merges are stopped.
func (e *Env) Optimize(table string) (stopped bool) {
	e.t.Helper()
	err := e.ClickHouse.Exec(context.WithoutCancel(e.t.Context()), "OPTIMIZE TABLE "+table+" FINAL SETTINGS optimize_throw_if_noop = 1")
	if answer, ok := errors.AsType[*clickhouse.Exception](err); ok && answer.Code == aborted {
		return true
	}
	if err != nil {
		e.t.Error(err)
	}
	return false
}
