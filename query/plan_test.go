package query

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/testenv"
)

// load fills the table with n records from testdata/load.sql, then counts some
// of them again in ten batches, so that cancelled states are there.
func load(t testing.TB, conn driver.Conn, n uint64) {
	t.Helper()
	run := func(file string, args ...any) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Exec(context.Background(), string(text), args...); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	const block = 100_000
	for from := uint64(0); from < n; from += block {
		run("testdata/load.sql", bind("from", from), bind("n", min(block, n-from)))
	}
	run("testdata/load_payloads.sql", bind("n", min(block, n)))
	for batch := range uint64(10) {
		run("testdata/touch.sql", bind("batch", batch), bind("records", n))
	}
}

// TestPlans holds that the engine takes the way that each statement is written
// for. Which one that is changes between its versions without a word.
func TestPlans(t *testing.T) {
	env := testenv.New(t)
	const records = 100_000
	load(t, env.ClickHouse, records)
	reader := New(env.ReadOnlyClickHouse)
	var user int64
	if err := env.ClickHouse.QueryRow(t.Context(), "SELECT user_id FROM records WHERE user_id > 0 ORDER BY id LIMIT 1").Scan(&user); err != nil {
		t.Fatal(err)
	}
	const inOrderRead = "Read type: InReverseOrder"
	for _, c := range []struct {
		name   string
		filter Filter
		page   Page
		want   []string
		// rows is the most that the keys of the page may take to read.
		rows uint64
	}{
		{"default", Filter{}, Page{}, []string{"ReadFromMergeTree (by_time)", inOrderRead}, 20_000},
		{"ascending", Filter{}, Page{Direction: Ascending}, []string{"ReadFromMergeTree (by_time)", "Read type: InOrder"}, 20_000},
		{"deep", Filter{}, Page{Number: 401}, []string{"ReadFromMergeTree (by_time)", inOrderRead}, 80_000},
		{"types", Filter{Books: []errata.Book{errata.BookDatabase}}, Page{}, []string{"ReadFromMergeTree (by_time)", inOrderRead}, 20_000},
		{"levels", Filter{Levels: []errata.Level{errata.LevelFatal}}, Page{}, []string{"ReadFromMergeTree (by_time)", inOrderRead}, 40_000},
		{"status", Filter{Statuses: []errata.Status{errata.StatusMuted}}, Page{}, []string{"ReadFromMergeTree (by_time)", inOrderRead}, 60_000},
		{"user_id", Filter{UserID: &user}, Page{}, []string{"Name: ix_user"}, 20_000},
		{"signature", Filter{Signature: &errata.Signature{}}, Page{}, []string{"Search Algorithm: generic exclusion search"}, 5_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, all := statements(t, c.filter, c.page, 5000)
			q := all[len(all)-1]
			plan := explainPlan(t, reader, q)
			for _, want := range c.want {
				if !strings.Contains(plan, want) {
					t.Errorf("the plan has no %q:\n%s\n%s", want, q.text, plan)
				}
			}
			var read uint64
			ctx := clickhouse.Context(t.Context(), clickhouse.WithProgress(func(p *clickhouse.Progress) { read += p.Rows }))
			rows, err := reader.query(ctx, q)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			for rows.Next() { // the last progress comes with the last row
			}
			if err := rows.Err(); err != nil {
				t.Fatal(err)
			}
			if read == 0 || read > c.rows {
				t.Errorf("%d rows read, want at most %d", read, c.rows)
			}
		})
	}
}

// TestRowsByKey holds that the records of a page are found by the primary key.
func TestRowsByKey(t *testing.T) {
	env := testenv.New(t)
	load(t, env.ClickHouse, 20_000)
	reader := New(env.ReadOnlyClickHouse)
	at, err := reader.find(t.Context(), Filter{}, Page{}.normal())
	if err != nil || len(at.keys) != DefaultLimit {
		t.Fatalf("got %d keys, error %v; want %d", len(at.keys), err, DefaultLimit)
	}
	q, err := rowsStatement(at.keys)
	if err != nil {
		t.Fatal(err)
	}
	plan := explainPlan(t, reader, q)
	if want := fmt.Sprintf("(signature in %d-element set)", DefaultLimit); !strings.Contains(plan, want) {
		t.Errorf("the plan has no %q:\n%s", want, plan)
	}
}

func explainPlan(t *testing.T, r *Reader, q statement) string {
	t.Helper()
	q.text = "EXPLAIN actions = 1, indexes = 1 " + q.text
	rows, err := r.query(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&plan, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}
