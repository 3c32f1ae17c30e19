package testenv

import (
	"context"
	"errors"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/migrations"
)

// templateDatabase is the database of the embedded engine from which each test's
// tables are copied: that of the seed.
const templateDatabase = engine.DefaultDatabase

// makeTables makes the test's tables. In an embedded engine each test gets copies of
// the seed's, which takes a tenth of the time that the files take.
func (e *Env) makeTables(ctx context.Context) error {
	if e.clickhouse == nil {
		return migrations.ClickHouse(ctx, e.ClickHouseOptions())
	}
	return migrations.CopyTables(ctx, e.ClickHouse, templateDatabase)
}

// Connect connects to a database beside the test's own, and gives it the tables of
// today, for a projection that is made again there, as the service does.
func (e *Env) Connect(ctx context.Context, database string) (driver.Conn, error) {
	return migrations.Connect(ctx, e.ClickHouseOptions(), e.Database)(database)
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
