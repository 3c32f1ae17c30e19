package migrations

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"

	"github.com/pressly/goose/v3/database"
)

const tableName = "schema_migrations"

// IsHistory says whether a table is the history of the files, which is no data.
func IsHistory(table string) bool { return table == tableName }

//go:embed store_create.sql
var createTable string

//go:embed store_applied.sql
var selectApplied string

// store keeps the history of goose in a table of ours, with the number and the
// checksum of every file.
type store struct{ files map[int64]file }

var _ database.StoreExtender = (*store)(nil)

// Tablename returns the name of the table.
func (s *store) Tablename() string { return tableName }

// CreateVersionTable creates the table.
func (s *store) CreateVersionTable(ctx context.Context, db database.DBTxConn) error {
	_, err := db.ExecContext(ctx, createTable)
	return err
}

// TableExists looks for the table in the current database.
func (s *store) TableExists(ctx context.Context, db database.DBTxConn) (bool, error) {
	var n uint64
	err := db.QueryRowContext(ctx,
		"SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = ?", tableName).Scan(&n)
	return n > 0, err
}

// Insert notes that a file was applied, with its checksum. Version 0 is no file:
// goose writes it at the beginning of the history.
func (s *store) Insert(ctx context.Context, db database.DBTxConn, req database.InsertRequest) error {
	f, ok := s.files[req.Version]
	if !ok && req.Version != 0 {
		return fmt.Errorf("migration %d is not in this program", req.Version)
	}
	_, err := db.ExecContext(ctx,
		"INSERT INTO "+tableName+" (version, name, sha256) VALUES (?, ?, ?)", req.Version, f.name, f.sha256)
	return err
}

// Delete is for downward migrations; there are none.
func (s *store) Delete(context.Context, database.DBTxConn, int64) error {
	return database.ErrNotImplemented
}

// GetMigration returns when a version was applied.
func (s *store) GetMigration(ctx context.Context, db database.DBTxConn, version int64) (*database.GetMigrationResult, error) {
	result := database.GetMigrationResult{IsApplied: true}
	err := db.QueryRowContext(ctx,
		"SELECT applied_at FROM "+tableName+" FINAL WHERE version = ?", version).Scan(&result.Timestamp)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, database.ErrVersionNotFound
	}
	return &result, err
}

// GetLatestVersion returns the highest applied number.
func (s *store) GetLatestVersion(ctx context.Context, db database.DBTxConn) (int64, error) {
	var rows uint64
	var latest int64
	err := db.QueryRowContext(ctx, "SELECT count(), max(version) FROM "+tableName).Scan(&rows, &latest)
	if err == nil && rows == 0 {
		err = database.ErrVersionNotFound
	}
	return latest, err
}

// ListMigrations returns the applied numbers, the highest first. It always adds 0:
// when the table exists, another node may have created it just now, and not written
// 0 yet.
func (s *store) ListMigrations(ctx context.Context, db database.DBTxConn) (list []*database.ListMigrationsResult, err error) {
	rows, err := db.QueryContext(ctx, "SELECT DISTINCT version FROM "+tableName+" ORDER BY version DESC")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		one := database.ListMigrationsResult{IsApplied: true}
		if err := rows.Scan(&one.Version); err != nil {
			return nil, err
		}
		list = append(list, &one)
	}
	if n := len(list); n == 0 || list[n-1].Version != 0 {
		list = append(list, &database.ListMigrationsResult{IsApplied: true})
	}
	return list, rows.Err()
}

// appliedFile is one row of the history.
type appliedFile struct {
	version int64
	name    string
	sha256  string
}

// applied returns the applied files, in order.
func (s *store) applied(ctx context.Context, db *sql.DB) (list []appliedFile, err error) {
	rows, err := db.QueryContext(ctx, selectApplied)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var a appliedFile
		if err := rows.Scan(&a.version, &a.name, &a.sha256); err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, rows.Err()
}
