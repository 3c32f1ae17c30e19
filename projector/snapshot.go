package projector

import (
	"context"
	"fmt"
	"strings"
)

// snapshotTables are what a rebuild needs beside the log.
var snapshotTables = []string{"records", "contexts", "hourly"}

// SnapshotSuffix makes the name of the database that holds the snapshot of the
// projection in the database before it.
const SnapshotSuffix = "_snapshot"

// takeSnapshot keeps the tables as they are now: it links their parts into a
// database beside theirs, which costs no copy, and gives that the snapshot's
// name when it is whole. A crash leaves an unnamed one, or none, and the command
// that asked for it is carried out again.
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
	}, cloneStatements(database, making)...)
	return s.exec(ctx, append(statements,
		"DROP DATABASE IF EXISTS "+quoteName(snapshot)+" SYNC",
		"RENAME DATABASE "+quoteName(making)+" TO "+quoteName(snapshot))...)
}

// exec carries out statements in their order. The error names the one that failed.
func (s *Store) exec(ctx context.Context, statements ...string) error {
	for _, statement := range statements {
		if err := s.conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// database is the name of the database that the connection has selected.
func (s *Store) database(ctx context.Context) (string, error) {
	return one[string](ctx, s, "ask for the name of the database", "SELECT currentDatabase()")
}

// cloneStatements make from's tables in the database to, as they are there, and
// link their parts.
func cloneStatements(from, to string) (statements []string) {
	for _, table := range snapshotTables {
		source, target := quoteName(from)+"."+table, quoteName(to)+"."+table
		statements = append(statements,
			"CREATE TABLE "+target+" AS "+source,
			"ALTER TABLE "+target+" ATTACH PARTITION tuple() FROM "+source)
	}
	return statements
}

// quoteName makes a name part of a statement: names cannot be bound.
func quoteName(name string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(name) + "`"
}
