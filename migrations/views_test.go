package migrations_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/test/testenv"
)

var update = flag.Bool("update", false, "write the views into docs/analysts.md anew")

// page is the document about the views; the part between the two lines is checked.
const (
	page      = "../docs/analysts.md"
	pageBegin = "<!-- views: written by go test ./migrations -run TestViewsAreDocumented -update -->\n"
	pageEnd   = "<!-- end of views -->\n"
)

// values are the values of an enumeration, which its comment names when they
// matter.
var values = regexp.MustCompile(`^(Enum8)\(.*\)$`)

// describe makes the part of the page about the views from the database.
func describe(t *testing.T, env *testenv.Env) string {
	t.Helper()
	var b strings.Builder
	for _, view := range migrations.ViewNames() {
		var comment string
		if err := env.ClickHouse.QueryRow(t.Context(), "SELECT comment FROM system.tables WHERE database = ? AND name = ? AND engine = 'View'", env.Views(), view).Scan(&comment); err != nil {
			t.Fatalf("%s: %v", view, err)
		}
		fmt.Fprintf(&b, "\n### %s\n%s\n\n| Column | Type | Meaning |\n|---|---|---|\n", view, comment)
		rows, err := env.ClickHouse.Query(t.Context(), "SELECT name, type, comment FROM system.columns WHERE database = ? AND table = ? ORDER BY position", env.Views(), view)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var name, kind, meaning string
			if err := rows.Scan(&name, &kind, &meaning); err != nil {
				t.Fatal(err)
			}
			if meaning == "" {
				t.Errorf("%s.%s has no comment", view, name)
			}
			fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", name, values.ReplaceAllString(kind, "$1"), meaning)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return b.String() + "\n"
}

func TestViewsAreDocumented(t *testing.T) {
	env := testenv.New(t)
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	front, rest, begins := strings.Cut(string(text), pageBegin)
	got, back, ends := strings.Cut(rest, pageEnd)
	if !begins || !ends {
		t.Fatalf("%s has no part about the views", page)
	}
	want := describe(t, env)
	if *update {
		if err := os.WriteFile(page, []byte(front+pageBegin+want+pageEnd+back), 0o644); err != nil {
			t.Fatal(err)
		}
		got = want
	}
	if got != want {
		t.Errorf("%s is not what the views are (go test ./migrations -run TestViewsAreDocumented -update):\n%s", page, want)
	}
}

func TestViewsUpAndAgain(t *testing.T) {
	env := testenv.New(t)
	// Views of an older version are replaced.
	if err := env.ClickHouse.Exec(t.Context(), "CREATE OR REPLACE VIEW `"+env.Views()+"`.records AS SELECT 1 AS old"); err != nil {
		t.Fatal(err)
	}
	errs := make([]error, 3)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = migrations.Views(t.Context(), env.ClickHouseOptions(), env.Views()) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatalf("three at once: %v", err)
	}
	begin := time.Now()
	if err := migrations.Views(t.Context(), env.ClickHouseOptions(), env.Views()); err != nil {
		t.Fatal(err)
	}
	t.Logf("a start spends %s on them", time.Since(begin).Round(time.Millisecond))
	names := migrations.ViewNames()
	if !slices.Contains(names, "records") || !slices.IsSorted(names) {
		t.Errorf("the views are %v", names)
	}
	for _, name := range names {
		if got := count(t, env, "SELECT count() FROM `"+env.Views()+"`."+name); got != 0 && name != "storage" {
			t.Errorf("%s has %d rows, want none", name, got)
		}
	}
	if got := count(t, env, "SELECT count() FROM system.tables WHERE database = '"+env.Views()+"'"); got != uint64(len(names)) {
		t.Errorf("there are %d tables among %d views", got, len(names))
	}
}

// A table is not replaced by a view, because it would be lost.
func TestViewsLeaveTablesAlone(t *testing.T) {
	env := testenv.New(t)
	err := migrations.Views(t.Context(), env.ClickHouseOptions(), env.Database)
	if err == nil || !strings.Contains(err.Error(), "deployments, firings, module_log, occurrences, payloads, query_log, records") {
		t.Errorf("error %v does not name the tables", err)
	}
	if got := count(t, env, "SELECT count() FROM system.tables WHERE database = currentDatabase() AND engine = 'View'"); got != 0 {
		t.Errorf("%d views were made among the tables", got)
	}
}
