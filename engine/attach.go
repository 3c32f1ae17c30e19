package engine

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/errata-log/errata/datadir"
)

// takenDir is the folder in that of the embedded ClickHouse for files that are to become
// parts: on the same disk, so that they need not be copied.
const takenDir = "taken"

// TakenDir is where to put files that [Engines.LinkTable] makes a table of.
func (e *Engines) TakenDir() string { return e.cfg.path(filepath.Join(clickhouseDir, takenDir)) }

// PutTable makes a table from what Freeze has told about it, of copies of its files.
// folder has a folder for each of its parts. It works with the embedded ClickHouse only.
func (e *Engines) PutTable(ctx context.Context, t FrozenTable, folder string) error {
	return e.makeTable(ctx, t, t.Create, folder, datadir.CopyFolder)
}

// LinkTable makes a table in another database, with the structure of the table of the same
// name in this service's database. It links the files, which must not be changed any more.
// It works with the embedded ClickHouse only.
func (e *Engines) LinkTable(ctx context.Context, t FrozenTable, database, folder string) error {
	own := FrozenTable{Database: e.Database(), Name: t.Name}
	t.Database = database
	return e.makeTable(ctx, t, "CREATE TABLE "+t.quoted()+" AS "+own.quoted(), folder, datadir.LinkFolder)
}

// Beside connects to another database of the same ClickHouse. The caller closes the connection.
func (e *Engines) Beside(database string) (driver.Conn, error) {
	options := *e.ClickHouseOptions()
	options.Auth.Database = database
	conn, err := clickhouse.Open(&options)
	if err != nil {
		return nil, fmt.Errorf("engine: connect to the database %s: %w", database, err)
	}
	return conn, nil
}

// DropBeside removes another database, if there is one.
func (e *Engines) DropBeside(ctx context.Context, database string) error {
	if err := e.ClickHouse().Exec(ctx, "DROP DATABASE IF EXISTS `"+database+"` SYNC"); err != nil {
		return fmt.Errorf("engine: drop the database %s: %w", database, err)
	}
	return nil
}

// makeTable makes a table by a statement, and attaches its parts in their order. put puts the
// files of a part to where ClickHouse looks for them.
func (e *Engines) makeTable(ctx context.Context, t FrozenTable, create, folder string, put func(to, from string) error) error {
	fail := func(err error) error {
		return fmt.Errorf("engine: restore the table %s.%s: %w", t.Database, t.Name, err)
	}
	// A merge would take rows away, and they are counted.
	for _, statement := range []string{"CREATE DATABASE IF NOT EXISTS `" + t.Database + "`", create, "SYSTEM STOP MERGES " + t.quoted()} {
		if err := e.ClickHouse().Exec(ctx, statement); err != nil {
			return fail(err)
		}
	}
	var paths []string
	row := e.ClickHouse().QueryRow(ctx, "SELECT data_paths FROM system.tables WHERE database = ? AND name = ?", t.Database, t.Name)
	if err := row.Scan(&paths); err != nil || len(paths) != 1 {
		return fail(fmt.Errorf("it has %d folders: %w", len(paths), err))
	}
	var rows, there uint64
	for _, part := range t.Parts {
		if err := put(filepath.Join(paths[0], "detached", part.Name), filepath.Join(folder, part.Name)); err != nil {
			return fail(err)
		}
		if err := e.ClickHouse().Exec(ctx, "ALTER TABLE "+t.quoted()+" ATTACH PART '"+part.Name+"'"); err != nil {
			return fail(err)
		}
		rows += part.Rows
	}
	row = e.ClickHouse().QueryRow(ctx, "SELECT sum(rows) FROM system.parts WHERE active AND database = ? AND table = ?", t.Database, t.Name)
	if err := row.Scan(&there); err != nil {
		return fail(err)
	}
	if there != rows {
		return fail(fmt.Errorf("it has %d rows, and its parts have %d", there, rows))
	}
	if err := e.ClickHouse().Exec(ctx, "SYSTEM START MERGES "+t.quoted()); err != nil {
		return fail(err)
	}
	return nil
}
