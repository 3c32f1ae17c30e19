package migrations

import (
	"context"
	"embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

//go:embed steps/*.sql
var stepFiles embed.FS

// stepSQL are the statements that follow the files.
var stepSQL = template.Must(template.ParseFS(stepFiles, "steps/*.sql"))

// afterFiles does what the table records needs and no file can do, because it
// depends on what the table is and holds.
func afterFiles(ctx context.Context, conn driver.Conn) error {
	if err := setGranules(ctx, conn); err != nil {
		return fmt.Errorf("set the granules of records: %w", err)
	}
	if err := fillProjections(ctx, conn); err != nil {
		return fmt.Errorf("fill the projections of records: %w", err)
	}
	return nil
}

// fillProjections has the parts of records that lack a projection filled with
// it: a part from before the projection is never merged with one that has it,
// so that the rows of a state that is over would stay for ever. It returns at
// once; ClickHouse fills them in the background, part by part, and goes on after
// a restart.
func fillProjections(ctx context.Context, conn driver.Conn) error {
	query, err := stepText("unfilled.sql", nil)
	if err != nil {
		return err
	}
	var names []string
	if err := conn.QueryRow(ctx, query).Scan(&names); err != nil {
		return fmt.Errorf("look for parts without them: %w", err)
	}
	for _, name := range names {
		if err := runStep(ctx, conn, "fill.sql", map[string]string{"Projection": quoted(name)}); err != nil {
			return err
		}
	}
	return nil
}

// runStep carries out one of the statements.
func runStep(ctx context.Context, conn driver.Conn, name string, names map[string]string) error {
	text, err := stepText(name, names)
	if err != nil {
		return err
	}
	if err := conn.Exec(ctx, text); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// stepText is the statement for those names.
func stepText(name string, names map[string]string) (string, error) {
	var text strings.Builder
	if err := stepSQL.ExecuteTemplate(&text, name, names); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return text.String(), nil
}
