package migrations

import (
	"context"
	"embed"
	"fmt"
	"strings"
	"text/template"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

//go:embed steps/*.sql
var stepFiles embed.FS

// stepSQL are the statements that come after the files.
var stepSQL = template.Must(template.ParseFS(stepFiles, "steps/*.sql"))

// afterFiles makes the changes of the table records that depend on its present
// state, which no file can do. It waits for another node that has the lock, as long as wait.
func afterFiles(ctx context.Context, conn driver.Conn, wait time.Duration) error {
	if err := setGranules(ctx, conn, wait); err != nil {
		return fmt.Errorf("set the granules of records: %w", err)
	}
	if err := fillParts(ctx, conn); err != nil {
		return fmt.Errorf("fill the parts of records: %w", err)
	}
	return nil
}

// fillParts lets ClickHouse add to the parts of records the ClickHouse projections
// and the computed columns that they lack. ClickHouse never merges a part with a
// projection with one without it, so rows that cancel each other would stay for
// ever; and it computes a missing column at every read. fillParts returns at once:
// ClickHouse works in the background, part by part, and continues after a restart.
func fillParts(ctx context.Context, conn driver.Conn) error {
	var unfilled [][]any // what it is, its name
	if err := askStep(ctx, conn, "unfilled.sql", &unfilled); err != nil {
		return fmt.Errorf("look for what they lack: %w", err)
	}
	for _, each := range unfilled {
		what, name := each[0].(string), each[1].(string)
		if err := runStep(ctx, conn, "fill.sql", map[string]string{"What": what, "Name": quoted(name)}); err != nil {
			return err
		}
	}
	return nil
}

// runStep carries out the statement in the file, which is a template for names.
func runStep(ctx context.Context, conn driver.Conn, file string, names map[string]string) error {
	var text strings.Builder
	err := stepSQL.ExecuteTemplate(&text, file, names)
	if err == nil {
		err = conn.Exec(ctx, text.String())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// askStep reads the single value that the query in the file returns.
func askStep(ctx context.Context, conn driver.Conn, file string, answer any, args ...any) error {
	text, err := stepFiles.ReadFile("steps/" + file)
	if err == nil {
		err = conn.QueryRow(ctx, string(text), args...).Scan(answer)
	}
	return err
}
