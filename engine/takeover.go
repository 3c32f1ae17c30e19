package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// companions are the suffixes of the databases that belong together. The projector
// keeps two beside the tables: the snapshot, without which a purged log cannot be
// folded again, and the remains of an interrupted rebuild. They are renamed first,
// so that after a crash in between the next start finds the old tables again.
var companions = []string{"_snapshot", "_rebuild", ""}

// errNoRoom tells the owner of an external server what to do.
var errNoRoom = errors.New("the ClickHouse database " + DefaultViews + " holds tables of Errata, and the views for analysts belong there: " +
	"RENAME DATABASE " + DefaultViews + " TO " + DefaultDatabase + " while Errata is stopped, or name " + DefaultViews + " in the DSN to leave it as it is")

// makeRoom renames the database DefaultViews to DefaultDatabase if it holds tables of
// an older version, which had no views. On an external server it renames nothing and
// returns errNoRoom.
func makeRoom(ctx context.Context, conn driver.Conn, embedded bool) error {
	var old, own uint64
	row := conn.QueryRow(ctx, `SELECT
		(SELECT count() FROM system.tables WHERE database = ? AND name = 'records' AND engine LIKE '%CollapsingMergeTree'),
		(SELECT count() FROM system.databases WHERE name = ?)`, DefaultViews, DefaultDatabase)
	if err := row.Scan(&old, &own); err != nil {
		return fmt.Errorf("look for tables in the ClickHouse database %s: %w", DefaultViews, err)
	}
	switch {
	case old == 0 || own > 0:
		return nil
	case !embedded:
		return errNoRoom
	}
	for _, suffix := range companions {
		var there uint64
		if err := conn.QueryRow(ctx, "SELECT count() FROM system.databases WHERE name = ?", DefaultViews+suffix).Scan(&there); err != nil {
			return fmt.Errorf("look for the ClickHouse database %s: %w", DefaultViews+suffix, err)
		}
		if there == 0 {
			continue
		}
		statement := "RENAME DATABASE " + DefaultViews + suffix + " TO " + DefaultDatabase + suffix
		if err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}
