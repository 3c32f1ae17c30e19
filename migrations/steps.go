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
	if err := fillParts(ctx, conn); err != nil {
		return fmt.Errorf("fill the parts of records: %w", err)
	}
	return nil
}

// fillParts has the parts of records filled with the projections that they lack,
// and with the columns that are worked out from others. A part from before a
// projection is never merged with one that has it, so that the rows of a state
// that is over would stay for ever; a column that a part lacks is worked out
// whenever it is read. It returns at once; ClickHouse fills them in the
// background, part by part, and goes on after a restart.
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

// runStep carries out the statement in the file, with the names put in.
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

// askStep reads the one value that the query in the file answers.
func askStep(ctx context.Context, conn driver.Conn, file string, answer any, args ...any) error {
	text, err := stepFiles.ReadFile("steps/" + file)
	if err == nil {
		err = conn.QueryRow(ctx, string(text), args...).Scan(answer)
	}
	return err
}
