package query

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/test/testenv"
)

// loadEnd is the newest sighting of testdata/load.sql, a midnight.
var loadEnd = time.UnixMilli(1_795_219_200_000).UTC()

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

// loaded is a table of n records.
func loaded(t *testing.T, n uint64) (*testenv.Env, *Reader) {
	t.Helper()
	env := testenv.New(t)
	load(t, env.ClickHouse, n)
	return env, New(Config{ClickHouse: env.ReadOnlyClickHouse})
}

// TestPlans holds that the engine takes the way that each statement is written
// for. Which one that is changes between its versions without a word.
func TestPlans(t *testing.T) {
	env, reader := loaded(t, 100_000)
	t.Run("totals", func(t *testing.T) { totalPlans(t, reader) })
	t.Run("pages", func(t *testing.T) { pagePlans(t, env, reader) })
}

// pagePlans holds how the pages of lists are found.
func pagePlans(t *testing.T, env *testenv.Env, reader *Reader) {
	var user int64
	if err := env.ClickHouse.QueryRow(t.Context(), "SELECT user_id FROM records WHERE user_id > 0 ORDER BY id LIMIT 1").Scan(&user); err != nil {
		t.Fatal(err)
	}
	var word, key string // word is 16 hex digits
	if err := env.ClickHouse.QueryRow(t.Context(), "SELECT substring(message_preview, 29, 16), signature FROM records ORDER BY id LIMIT 1").Scan(&word, &key); err != nil {
		t.Fatal(err)
	}
	signature := errata.Signature([]byte(key))
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
		{"project", Filter{Projects: OnlyProjects(7)}, Page{}, []string{"ReadFromMergeTree (by_time)", inOrderRead}, 60_000},
		{"status", Filter{Statuses: []errata.Status{errata.StatusMuted}}, Page{}, []string{"ReadFromMergeTree (by_time)", inOrderRead}, 60_000},
		{"user_id", Filter{UserID: &user}, Page{}, []string{"Name: ix_user"}, 20_000},
		{"message", Filter{Message: word}, Page{}, []string{"Name: ix_texts"}, 20_000},
		{"search", Filter{Search: `"on ` + word + `"`}, Page{}, []string{"Name: ix_texts"}, 20_000},
		{"search, two words", Filter{Search: "customer " + word}, Page{}, []string{"Name: ix_texts"}, 20_000},
		{"search, may be a signature", Filter{Search: word}, Page{}, []string{"<Combined skip indexes>"}, 20_000},
		{"signature", Filter{Signature: &signature}, Page{}, []string{"Search Algorithm: generic exclusion search"}, 8_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, all := statements(t, c.filter, c.page, 5000)
			checkPlan(t, reader, all[len(all)-1], c.want, c.rows)
		})
	}
}

// totalPlans holds that totals are read from sums where there are some, and from
// by_time else, where only the ends of a range are ruled out. The unmerged parts of the
// batches hold several groups each, but far fewer than rows.
func totalPlans(t *testing.T, reader *Reader) {
	end := loadEnd
	const grouped, all = 30_000, 130_000
	for name, c := range map[string]struct {
		filter Filter
		want   string
		rows   uint64
	}{
		"all":            {Filter{}, "ReadFromMergeTree (by_", grouped},
		"types":          {Filter{Books: []errata.Book{errata.BookDatabase}}, "ReadFromMergeTree (by_", grouped},
		"levels":         {Filter{Levels: []errata.Level{errata.LevelFatal}}, "ReadFromMergeTree (by_", grouped},
		"status":         {Filter{Statuses: []errata.Status{errata.StatusMuted}}, "ReadFromMergeTree (by_", grouped},
		"noise":          {Filter{HideNoise: true}, "ReadFromMergeTree (by_", grouped},
		"project":        {Filter{Projects: OnlyProjects(7)}, "ReadFromMergeTree (by_time)", all},
		"class":          {Filter{Class: "class1"}, "ReadFromMergeTree (by_group)", grouped},
		"min_occurrence": {Filter{MinOccurrence: 2}, "ReadFromMergeTree (by_time)", all},
		"range":          {Filter{From: end.AddDate(0, 0, -30).Add(time.Hour)}, "ReadFromMergeTree (by_time)", all},
	} {
		t.Run(name, func(t *testing.T) {
			q, err := totalStatement(c.filter)
			if err != nil {
				t.Fatal(err)
			}
			plan := checkPlan(t, reader, q, []string{c.want}, c.rows)
			if strings.Contains(plan, "_store.records)") {
				t.Errorf("the table itself is read:\n%s", plan)
			}
		})
	}
}

// TestSmallPlans does so with fewer records, their deployments and their hours.
func TestSmallPlans(t *testing.T) {
	env, reader := loaded(t, 20_000)
	loadHours, err := os.ReadFile("testdata/load_hours.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, fill := range []string{sqlLoadDeployments, string(loadHours)} {
		if err := env.ClickHouse.Exec(t.Context(), fill); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("scoped", func(t *testing.T) { scopedPlans(t, reader) })
	t.Run("series", func(t *testing.T) { seriesPlans(t, reader) })
	t.Run("rows", func(t *testing.T) { rowsPlan(t, env, reader) }) // merges
}

// scopedPlans holds that pages of environments and releases are read in order, and
// that the records that are gone are found by the index.
func scopedPlans(t *testing.T, reader *Reader) {
	for name, f := range map[string]Filter{
		"environment": {Environments: Names{"production"}},
		"release":     {Releases: Names{"shop@1.2"}, Books: errata.Books, Projects: OnlyProjects(1, 2, 3, 4, 5, 6, 7, 8, 9)},
		"wildcard":    {Environments: Names{"prod*"}, Releases: Names{"*"}},
	} {
		t.Run(name, func(t *testing.T) {
			q, err := scopedWindowStatement(f, window(DefaultLimit))
			if err != nil {
				t.Fatal(err)
			}
			checkPlan(t, reader, q, []string{"ReadFromMergeTree (by_time)", "Read type: InReverseOrder"}, 20_000)
			if q, err = scopedTotalStatement(f, false); err != nil {
				t.Fatal(err)
			}
			checkPlan(t, reader, q, []string{".deployments)"}, 80_000)
		})
	}
}

// seriesPlans holds that the series of an overview are read from their sums.
func seriesPlans(t *testing.T, reader *Reader) {
	end := loadEnd
	q, err := seriesStatement(Range{From: end.Add(-24 * time.Hour), To: end, Step: time.Hour}, Projects{})
	if err != nil {
		t.Fatal(err)
	}
	checkPlan(t, reader, q, []string{"ReadFromMergeTree (by_level)"}, 40_000)
	over := Range{From: end.Add(-24 * time.Hour), To: end, Step: time.Hour}
	for _, among := range []Projects{{}, OnlyProjects(3, 4)} {
		if q, err = projectsStatement(over, among); err != nil {
			t.Fatal(err)
		}
		checkPlan(t, reader, q, []string{"ReadFromMergeTree (by_level)"}, 40_000)
		if q, err = totalsByProjectStatement(over, among); err != nil {
			t.Fatal(err)
		}
		checkPlan(t, reader, q, []string{"ReadFromMergeTree (by_time)", "ReadFromMergeTree (by_level)"}, 80_000)
	}
}

// checkPlan holds that the plan of the statement has the texts, and that it
// reads so many rows at most. It returns the plan.
func checkPlan(t *testing.T, reader *Reader, q statement, wanted []string, most uint64) (plan string) {
	t.Helper()
	plan = explainPlan(t, reader, q)
	if _, inner, ok := strings.Cut(q.text, "WITH\n("); ok {
		// The engine plans with what this has found, and does not say how.
		inner, _, _ = strings.Cut(inner, ") AS found")
		plan += explainPlan(t, reader, statement{text: inner, args: q.args, settings: q.settings})
	}
	for _, want := range wanted {
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
	if read == 0 || read > most {
		t.Errorf("%d rows read, want at most %d:\n%s", read, most, plan)
	}
	return plan
}

// rowsPlan holds that the records of a page are found by the primary key, also once
// a merge has moved them.
func rowsPlan(t *testing.T, env *testenv.Env, reader *Reader) {
	at, err := reader.find(t.Context(), Filter{}, Page{Order: OrderCount}.normal())
	if err != nil || len(at.keys) != DefaultLimit {
		t.Fatalf("got %d rows, error %v; want %d", len(at.keys), err, DefaultLimit)
	}
	q, err := rowsStatement(at.keys)
	if err != nil {
		t.Fatal(err)
	}
	plan := explainPlan(t, reader, q)
	if want := fmt.Sprintf("(signature in %d-element set)", DefaultLimit); !strings.Contains(plan, want) {
		t.Errorf("the plan has no %q:\n%s", want, plan)
	}
	before, err := reader.rows(t.Context(), at.keys)
	if err != nil || len(before) != DefaultLimit {
		t.Fatalf("read %d records, error %v; want %d", len(before), err, DefaultLimit)
	}
	if err := env.ClickHouse.Exec(t.Context(), "OPTIMIZE TABLE records FINAL"); err != nil {
		t.Fatal(err)
	}
	after, err := reader.rows(t.Context(), at.keys)
	if err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("after a merge: %v, error %v; want %v", after, err, before)
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
