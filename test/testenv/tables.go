package testenv

import (
	"context"
	"fmt"

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
	names, err := sharedClickHouse.template(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := e.ClickHouse.Exec(ctx, fmt.Sprintf("CREATE TABLE `%s` AS `%s`.`%s`", name, templateDatabase, name)); err != nil {
			return fmt.Errorf("copy the table %s: %w", name, err)
		}
	}
	// The list of applied migrations.
	return e.ClickHouse.Exec(ctx, "INSERT INTO schema_migrations SELECT * FROM `"+templateDatabase+"`.schema_migrations")
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
