package projector

import (
	"context"
	"fmt"
	"strings"
)

// tableRecords is the table with the records and the checkpoint.
const tableRecords = "records"

// projectionTables are the tables of the projection. A rebuild needs them beside the
// log, and gives them the names of the live ones in this order: until the records
// come, rows of the other tables without a record are not shown.
var projectionTables = []string{"contexts", LatestContexts, RollupHours, RollupDeployments, RollupOccurrences, tableRecords}

// SnapshotSuffix is appended to the name of a database. The result is the database
// with the snapshot of its projection.
const SnapshotSuffix = "_snapshot"

// takeSnapshot keeps the tables as they are now: it links their parts into another
// database, which copies no data, and renames that database when it is complete.
// After a crash the command is carried out again.
func (s *Store) takeSnapshot(ctx context.Context) error {
	database, err := s.database(ctx)
	if err != nil {
		return err
	}
	snapshot := database + SnapshotSuffix
	making := snapshot + "_new"
	statements := append([]string{
		"DROP DATABASE IF EXISTS " + quoteName(making) + " SYNC",
		"CREATE DATABASE " + quoteName(making),
	}, cloneStatements(projectionTables, database, making)...)
	return s.exec(ctx, append(statements,
		"DROP DATABASE IF EXISTS "+quoteName(snapshot)+" SYNC",
		"RENAME DATABASE "+quoteName(making)+" TO "+quoteName(snapshot))...)
}

// exec carries out statements in order. The error names the one that failed.
func (s *Store) exec(ctx context.Context, statements ...string) error {
	for _, statement := range statements {
		if err := s.conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// database returns the name of the current database.
func (s *Store) database(ctx context.Context) (string, error) {
	return one[string](ctx, s, "ask for the name of the database", "SELECT currentDatabase()")
}

// cloneStatements make the tables of the database from in the database to, and link
// their parts.
func cloneStatements(tables []string, from, to string) (statements []string) {
	for _, table := range tables {
		source, target := quoteName(from)+"."+table, quoteName(to)+"."+table
		statements = append(statements,
			"CREATE TABLE "+target+" AS "+source,
			"ALTER TABLE "+target+" ATTACH PARTITION tuple() FROM "+source)
	}
	return statements
}

// quoteName quotes a name for a statement: names cannot be bound.
func quoteName(name string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(name) + "`"
}
