package engine

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	errata "github.com/errata-log/errata"
)

var (
	//go:embed sql/table_bytes.sql
	sqlTableBytes string
	//go:embed sql/unsynced_tables.sql
	sqlUnsyncedTables string
)

// checkPatience bounds the wait for one answer of ClickHouse. It is short because
// people look at the checks while something is wrong.
const checkPatience = 1500 * time.Millisecond

// inTime asks ClickHouse and waits at most checkPatience. It does not wait for the
// driver, which ignores the context and gives a frozen server 5 s for the handshake.
func inTime[T any](ctx context.Context, ask func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	type answer struct {
		value T
		err   error
	}
	answered := make(chan answer, 1)
	go func() { // ends with the driver's own limit
		value, err := ask(ctx)
		answered <- answer{value, err}
	}()
	select {
	case a := <-answered:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// Ready is nil when ClickHouse answers within 1.5 s. Kind: store_unavailable.
func (e *Engines) Ready(ctx context.Context) error { return ready(ctx, e.ReadOnlyClickHouse().Ping) }

func ready(ctx context.Context, ping func(context.Context) error) error {
	_, err := inTime(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, ping(ctx) })
	if err != nil {
		return errata.Errorf(errata.KindStoreUnavailable, "ClickHouse does not answer. Events are taken and safe; records cannot be read.").Because(err)
	}
	return nil
}

// TableBytes is the size of the tables on disk, in bytes. It waits at most 1.5 s.
func (e *Engines) TableBytes(ctx context.Context) (uint64, error) {
	return inTime(ctx, func(ctx context.Context) (bytes uint64, err error) {
		err = e.ReadOnlyClickHouse().QueryRow(ctx, sqlTableBytes).Scan(&bytes)
		return bytes, err
	})
}

// CheckTables looks for tables that would lose confirmed rows at a power cut.
func (e *Engines) CheckTables(ctx context.Context) errata.Check {
	return checkTables(ctx, e.unsyncedTables)
}

func checkTables(ctx context.Context, unsynced func(context.Context) ([]string, error)) errata.Check {
	c := errata.Check{Name: "table sync"}
	tables, err := inTime(ctx, unsynced)
	switch {
	case err != nil:
		c.Detail, c.Hint = fmt.Sprintf("cannot be asked: %v", err), "see the check of clickhouse"
	case len(tables) > 0:
		c.Detail = "no fsync after insert: " + strings.Join(tables, ", ")
		c.Hint = "a power cut loses records: ALTER TABLE … MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1"
	default:
		c.OK, c.Detail = true, "fsync after every insert"
	}
	return c
}

// unsyncedTables names the tables of the database that confirm inserts before they
// are on disk.
func (e *Engines) unsyncedTables(ctx context.Context) (names []string, err error) {
	rows, err := e.ClickHouse().Query(ctx, sqlUnsyncedTables)
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
