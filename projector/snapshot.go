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
	return cloneTables(ctx, s.conn.Exec, database, database+SnapshotSuffix)
}

// database is the name of the database that the connection has selected.
func (s *Store) database(ctx context.Context) (name string, err error) {
	if err := s.conn.QueryRow(ctx, "SELECT currentDatabase()").Scan(&name); err != nil {
		return "", fmt.Errorf("ask for the name of the database: %w", err)
	}
	return name, nil
}

// cloneTables makes database to a clone of from's tables.
func cloneTables(ctx context.Context, exec func(context.Context, string, ...any) error, from, to string) error {
	making := to + "_new"
	statements := []string{
		"DROP DATABASE IF EXISTS " + quoteName(making) + " SYNC",
		"CREATE DATABASE " + quoteName(making),
	}
	statements = append(statements, cloneStatements(from, making)...)
	statements = append(statements,
		"DROP DATABASE IF EXISTS "+quoteName(to)+" SYNC",
		"RENAME DATABASE "+quoteName(making)+" TO "+quoteName(to))
	for _, statement := range statements {
		if err := exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
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
