package dashboards

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// chosen are values of the variables of the dashboard, nil for "All".
type chosen map[string][]string

var (
	timeFilter   = regexp.MustCompile(`\$__timeFilter\((\w+)\)`)
	timeInterval = regexp.MustCompile(`\$__timeInterval\((\w+)\)`)
)

// expanded is a statement as the data source sends it to ClickHouse.
func expanded(t *testing.T, statement string, values chosen, from, to time.Time) string {
	t.Helper()
	const all = "$__conditionalAll("
	for begin := strings.LastIndex(statement, all); begin >= 0; begin = strings.LastIndex(statement, all) {
		condition, name, end := conditional(t, statement[begin+len(all):])
		if values[name] == nil {
			condition = "1=1"
		}
		statement = statement[:begin] + condition + statement[begin+len(all)+end:]
	}
	for name, list := range values {
		quoted := make([]string, len(list))
		for i, value := range list {
			quoted[i] = "'" + strings.ReplaceAll(value, "'", `\'`) + "'"
		}
		statement = strings.NewReplacer("${"+name+":csv}", strings.Join(list, ","), "${"+name+":singlequote}", strings.Join(quoted, ",")).Replace(statement)
	}
	at := func(when time.Time) string { return fmt.Sprintf("toDateTime(%d)", when.Unix()) }
	statement = timeFilter.ReplaceAllString(statement, "$1 >= "+at(from)+" AND $1 <= "+at(to))
	statement = timeInterval.ReplaceAllString(statement, "toStartOfInterval(toDateTime($1), INTERVAL 60 second)")
	if strings.Contains(statement, "$") {
		t.Fatalf("not everything is expanded: %s", statement)
	}
	return statement
}

// conditional reads the two arguments of the macro from behind its bracket: a condition
// and a variable. end is behind its last bracket.
func conditional(t *testing.T, text string) (condition, name string, end int) {
	t.Helper()
	depth, comma := 0, -1
	for i, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ',' && depth == 0:
			comma = i
		case r == ')' && depth > 0:
			depth--
		case r == ')':
			return text[:comma], strings.TrimPrefix(strings.TrimSpace(text[comma+1:i]), "$"), i + 1
		}
	}
	t.Fatalf("the macro does not end: %s", text)
	return "", "", 0
}

// query is one statement of the dashboard.
type query struct{ of, kind, statement string }

// errorsDashboard runs the statements of the dashboard of errors, all at once, as a browser
// asks for them.
func errorsDashboard(t *testing.T, r *running) {
	d := readDashboard(t, "errata-errors.json")
	provisioned := readSources(t)[d.Templating.List[0].Current.Value].JSONData
	options := r.analyst()
	if options.Auth.Username != provisioned.Username || options.Auth.Database != provisioned.DefaultDatabase {
		t.Errorf("the data source is %+v, and analysts are %s at %s", provisioned, options.Auth.Username, options.Auth.Database)
	}
	seconds, err := strconv.Atoi(provisioned.QueryTimeout)
	if err != nil {
		t.Fatal(err)
	}
	const pool = 50 // of the data source
	options.MaxOpenConns = pool
	db := clickhouse.OpenDB(options)
	db.SetMaxOpenConns(pool)
	t.Cleanup(func() { db.Close() })

	from, to := time.Now().Add(-time.Hour), time.Now().Add(time.Minute)
	for name, values := range map[string]chosen{"all": {}, "chosen": {"project": {"1"}, "environment": {"production", "it's"}}} {
		var queries []query
		for _, v := range d.Templating.List {
			if v.Type == "query" {
				queries = append(queries, query{"the variable " + v.Name, "table", expanded(t, v.Definition, values, from, to)})
			}
		}
		for _, p := range d.Panels {
			for _, q := range p.Targets {
				kind := q.QueryType
				if p.Type == "stat" {
					kind = p.Type
				}
				queries = append(queries, query{p.Title, kind, expanded(t, q.RawSQL, values, from, to)})
			}
		}
		// The default of the data source is a minute.
		for _, timeout := range []time.Duration{time.Duration(seconds) * time.Second, time.Minute} {
			runAll(t, db, name, queries, timeout)
		}
	}
}

func runAll(t *testing.T, db *sql.DB, name string, queries []query, timeout time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	answers := make([]error, len(queries))
	var all sync.WaitGroup
	for i, q := range queries {
		all.Go(func() { answers[i] = ask(ctx, db, q) })
	}
	all.Wait()
	for i, err := range answers {
		if err != nil {
			t.Errorf("%s, with %s: %v\n%s", queries[i].of, name, err, queries[i].statement)
		}
	}
}

// ask says what is wrong with the answer to a query.
func ask(ctx context.Context, db *sql.DB, q query) error {
	rows, err := db.QueryContext(ctx, q.statement)
	if err != nil {
		return err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return err
	}
	n := 0
	for rows.Next() {
		n++
		values := make([]any, len(types))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			return err
		}
		if first := fmt.Sprint(*values[0].(*any)); q.kind == "stat" && first == "0" {
			return fmt.Errorf("it shows 0")
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("it shows nothing")
	}
	if q.kind == "timeseries" && (types[0].DatabaseTypeName() != "DateTime" && types[0].DatabaseTypeName() != "DateTime('UTC')" || types[len(types)-1].DatabaseTypeName() != "UInt64") {
		return fmt.Errorf("its first and last columns are %s and %s, want a time and a number", types[0].DatabaseTypeName(), types[len(types)-1].DatabaseTypeName())
	}
	return nil
}

// firings checks the values of the view, which nothing else shows to analysts.
func firings(t *testing.T, r *running) {
	db := clickhouse.OpenDB(r.analyst())
	t.Cleanup(func() { db.Close() })
	for statement, want := range map[string]string{
		"SELECT countIf(cause = 'new') || ' ' || countIf(cause = 'regressed') FROM firings WHERE rule = '" + r.rule + "'":                                  "4 1",
		"SELECT environment || ' ' || release || ' ' || toString(level) || ' ' || count FROM firings WHERE cause = 'regressed'":                            "production 1.0 fatal 2",
		"SELECT type || ' ' || project || ' ' || count FROM firings WHERE type = 'database'":                                                               "database 1 1",
		"SELECT count() || ' ' || countIf(f.time = o.received) FROM firings AS f INNER JOIN occurrences AS o USING (type, signature, record_id, position)": "5 5",
		"SELECT toString(count()) FROM firings WHERE position = 0 OR time < now() - INTERVAL 1 HOUR":                                                       "0",
	} {
		var got string
		if err := db.QueryRowContext(t.Context(), statement).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %q, error %v, want %q", statement, got, err, want)
		}
	}
}

// TestQueries runs all queries of deploy/ on one service.
func TestQueries(t *testing.T) {
	r := startWithData(t)
	t.Run("the service", func(t *testing.T) { serviceDashboard(t, r) })
	t.Run("alert rules", func(t *testing.T) { alertRules(t, r) })
	t.Run("errors", func(t *testing.T) { errorsDashboard(t, r) })
	t.Run("firings", func(t *testing.T) { firings(t, r) })
}
