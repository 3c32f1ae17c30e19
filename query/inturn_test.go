package query

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// asked notes the statements that ClickHouse gets.
type asked struct {
	driver.Conn
	mu         sync.Mutex
	statements []string
}

func (a *asked) note(statement string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.statements = append(a.statements, statement)
}

func (a *asked) Query(ctx context.Context, statement string, args ...any) (driver.Rows, error) {
	a.note(statement)
	return a.Conn.Query(ctx, statement, args...)
}

func (a *asked) QueryRow(ctx context.Context, statement string, args ...any) driver.Row {
	a.note(statement)
	return a.Conn.QueryRow(ctx, statement, args...)
}

// TestClassInTurn: a list by class looks for a page once, and not at all when no record has
// the class.
func TestClassInTurn(t *testing.T) {
	env, _ := loaded(t, 1_000)
	for _, c := range []struct {
		class       string
		least, most uint64 // records
		pages       int
	}{
		{"NobodyHasIt", 0, 0, 0},
		{"Class299Exception", 1, minInOrder - 1, 1},
		{"Exception", 500, 1_000, 1},
	} {
		conn := &asked{Conn: env.ReadOnlyClickHouse}
		list, err := New(Config{ClickHouse: conn}).Find(t.Context(), Filter{Class: c.class}, Page{})
		if err != nil {
			t.Fatal(err)
		}
		if list.Total < c.least || list.Total > c.most || len(list.Records) != int(min(list.Total, DefaultLimit)) {
			t.Errorf("%s: %d records of %d", c.class, len(list.Records), list.Total)
		}
		pages := 0
		for _, statement := range conn.statements {
			if strings.Contains(statement, "LIMIT 1 BY id, version") {
				pages++
			}
		}
		if pages != c.pages {
			t.Errorf("%s: %d pages were looked for, want %d: %q", c.class, pages, c.pages, conn.statements)
		}
	}
}
