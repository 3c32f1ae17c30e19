package migrations

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"strings"
	"text/template"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

//go:embed views/*.sql
var viewFiles embed.FS

// Views makes the views for analysts in the database with this name, which it
// creates if necessary. The views read the tables of the database in the options,
// which must exist. Existing views are replaced, so that they are always those of
// this program.
//
// A view has the rights of the user in the options, so its readers need no rights
// on the tables. When a table has the name of a view, Views does nothing and
// returns an error.
func Views(ctx context.Context, options *clickhouse.Options, database string) (err error) {
	views, err := template.ParseFS(viewFiles, "views/*.sql")
	if err != nil {
		return fmt.Errorf("migrations: read the views: %w", err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		return fmt.Errorf("migrations: connect to ClickHouse: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := roomForViews(ctx, conn, database); err != nil {
		return err
	}
	if err := ensureViewsDatabase(ctx, conn, database); err != nil {
		return err
	}
	names := map[string]string{
		"Views": quoted(database), "Tables": quoted(options.Auth.Database),
		"TablesText": strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(options.Auth.Database),
	}
	for _, view := range views.Templates() {
		var text strings.Builder
		if err := view.Execute(&text, names); err != nil {
			return fmt.Errorf("migrations: %s: %w", view.Name(), err)
		}
		if err := conn.Exec(ctx, text.String()); err != nil {
			return fmt.Errorf("migrations: make the view %s.%s: %w", database, strings.TrimSuffix(view.Name(), ".sql"), err)
		}
	}
	return nil
}

// codeAccessDenied is ClickHouse's ACCESS_DENIED.
const codeAccessDenied = 497

// ViewsIfAllowed is Views for an external server, where the user may have rights on
// one database only. Without the right to make views it logs a warning and returns
// nil: the service itself needs no view.
func ViewsIfAllowed(ctx context.Context, options *clickhouse.Options, database string, logger *slog.Logger) error {
	err := Views(ctx, options, database)
	if answer, ok := errors.AsType[*clickhouse.Exception](err); ok && answer.Code == codeAccessDenied {
		logger.Warn("there are no views for analysts: the ClickHouse user may not make them, see docs/analysts.md", "database", database, "error", err)
		return nil
	}
	return err
}

// ViewNames returns the names of the views, sorted.
func ViewNames() []string {
	files, err := fs.Glob(viewFiles, "views/*.sql")
	if err != nil {
		panic(err) // the pattern is wrong
	}
	for i, name := range files {
		files[i] = strings.TrimSuffix(path.Base(name), ".sql")
	}
	return files
}

// roomForViews refuses a database with a table under the name of a view: CREATE OR
// REPLACE VIEW would drop the table.
func roomForViews(ctx context.Context, conn driver.Conn, database string) error {
	var names []string
	row := conn.QueryRow(ctx, "SELECT arraySort(groupArray(name)) FROM system.tables WHERE database = ? AND name IN (?) AND engine != 'View'", database, ViewNames())
	if err := row.Scan(&names); err != nil {
		return fmt.Errorf("migrations: look what is in the ClickHouse database %s: %w", database, err)
	}
	if len(names) > 0 {
		return fmt.Errorf("migrations: the ClickHouse database %s holds the tables %s, and the views for analysts belong there: "+
			"rename that database, or give Errata's tables one of another name", database, strings.Join(names, ", "))
	}
	return nil
}

// ensureViewsDatabase creates the database unless it exists: a user without the
// right to create databases may still use it.
func ensureViewsDatabase(ctx context.Context, conn driver.Conn, database string) error {
	var there uint64
	if err := conn.QueryRow(ctx, "SELECT count() FROM system.databases WHERE name = ?", database).Scan(&there); err != nil {
		return fmt.Errorf("migrations: look for the ClickHouse database %s: %w", database, err)
	}
	if there > 0 {
		return nil
	}
	if err := conn.Exec(ctx, "CREATE DATABASE IF NOT EXISTS "+quoted(database)); err != nil {
		return fmt.Errorf("migrations: create the ClickHouse database %s for the views: %w", database, err)
	}
	return nil
}

// quoted quotes a name for a statement.
func quoted(name string) string {
	return "`" + strings.NewReplacer("\\", "\\\\", "`", "\\`").Replace(name) + "`"
}
