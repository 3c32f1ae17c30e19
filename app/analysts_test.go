package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/datadir"
)

// readyQueries are the files of docs/queries with the number of rows that they give
// after makeHistory, and parts of the JSON of the first rows.
var readyQueries = map[string]struct {
	rows  int
	first []string
}{
	"growing.sql":         {4, []string{`"exception_class":"OrderError"`, `"last_day":5`, `"day_before":1`}},
	"new.sql":             {1, []string{`"exception_class":"NewError"`, `"level":"fatal"`, `"count":2`}},
	"noisy.sql":           {5, []string{`"exception_class":"PollError"`, `"week":30`, `"percent":66.7`}},
	"rate.sql":            {24, []string{`"fatal":0`, `"total":0`}},
	"releases.sql":        {2, []string{`"release":"2.0"`, `"problems":1`, `"brought":1`, `"grave":1`, `"occurrences":2`}},
	"deployments.sql":     {2, []string{`"environment":""`, `"problems":4`, `"times":39`}},
	"users.sql":           {3, []string{`"kind":"user"`, `"who":"7"`, `"problems":2`, `"occurrences":8`}},
	"classes.sql":         {5, []string{`"exception_class":"PollError"`, `"problems":1`, `"occurrences":30`, `"open":1`, `"worst":"warning"`}},
	"affected_users.sql":  {5, []string{`"type":"system"`}},
	"crashes.sql":         {2, []string{`"release":"2.0"`, `"occurrences":2`, `"grave":2`, `"percent":100`, `"problems":1`}},
	"after_deploy.sql":    {2, []string{`"environment":""`, `"release":"2.0"`, `"hour_before":15`, `"hour_after":2`, `"new_problems":1`}},
	"regressed.sql":       {1, []string{`"exception_class":"FlakyError"`, `"count":3`}},
	"database_files.sql":  {1, []string{`"file":"db.php"`, `"problems":1`, `"occurrences":4`, `"classes":1`}},
	"slow_queries.sql":    {2, []string{`"query":"SELECT * FROM orders WHERE id = ?"`, `"times":2`, `"total_ms":500`, `"most_rows":9`, `"failed":1`}},
	"failing_modules.sql": {1, []string{`"module":"payment"`, `"host":"bank.example"`, `"calls":3`, `"failed":1`, `"percent":33.3`, `"last_error":"timed out"`}},
	"projection.sql":      {1, []string{`"shard":0`, `"events":45`, `"counted":45`, `"duplicates":1`, `"poison":0`, `"recording_off":false`, `"records":5`}},
}

// TestReadyQueries runs each query of docs/queries as the analyst, on the records of a
// service.
//
// long: one history, which is made once, and what each query says about it.
func TestReadyQueries(t *testing.T) {
	o := testOptions(t)
	a := build(t, o)
	run(t, a)
	makeHistory(t, a, o.Data)
	conn := analyst(t, o.Data)

	files, err := filepath.Glob("../docs/queries/*.sql")
	if err != nil || len(files) != len(readyQueries) {
		t.Fatalf("there are %d files, error %v, want the %d of the table", len(files), err, len(readyQueries))
	}
	page, err := os.ReadFile("../docs/analysts.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(string(page), "(queries/"+name+")") {
				t.Errorf("docs/analysts.md has no link to it")
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			rows := jsonRows(t, conn, string(text))
			want := readyQueries[name]
			if len(rows) != want.rows || len(rows) == 0 {
				t.Fatalf("%d rows, want %d:\n%s", len(rows), want.rows, strings.Join(rows, "\n"))
			}
			for _, part := range want.first {
				if !strings.Contains(rows[0], part) {
					t.Errorf("the first row has no %s: %s", part, rows[0])
				}
			}
		})
	}
	t.Run("the hours add up", func(t *testing.T) {
		text, err := os.ReadFile("../docs/queries/rate.sql")
		if err != nil {
			t.Fatal(err)
		}
		var total, fatal uint64
		for _, row := range jsonRows(t, conn, string(text)) {
			var hour struct{ Total, Fatal uint64 }
			if err := json.Unmarshal([]byte(row), &hour); err != nil {
				t.Fatal(err)
			}
			total, fatal = total+hour.Total, fatal+hour.Fatal
		}
		if total != 22 || fatal != 2 {
			t.Errorf("%d occurrences in a day, %d of them fatal, want 22 and 2", total, fatal)
		}
	})
}

// The views show the values of the tables as people write them.
func TestViewsOfOneRecord(t *testing.T) {
	o := testOptions(t)
	a := build(t, o)
	run(t, a)
	makeHistory(t, a, o.Data)
	conn := analyst(t, o.Data)
	for query, parts := range map[string][]string{
		"SELECT * FROM records WHERE exception_class = 'OrderError'": {
			`"type":"system"`, `"level":"error"`, `"count":6`, `"file":"orders.go"`, `"line":51`, `"message_preview":"order failed"`,
			`"request_uri":"\/checkout"`, `"request_method":"POST"`, `"user_id":7`, `"ip":"203.0.113.9"`, `"status":"open"`, `"regressed":false`, `"overflow":false`,
		},
		"SELECT ip, length(signature) AS n FROM records WHERE exception_class = 'PollError'":                                                                 {`"ip":"2001:db8::7"`, `"n":32`},
		"SELECT ip FROM records WHERE exception_class = 'PDOException'":                                                                                      {`"ip":""`},
		"SELECT payload FROM payloads AS p INNER JOIN records AS r ON p.record_id = r.id AND p.signature = r.signature WHERE exception_class = 'OrderError'": {`1.0`},
		"SELECT environments, releases, project FROM records WHERE exception_class = 'OrderError'":                                                           {`"environments":["production"]`, `"releases":["1.0"]`, `"project":1`},
		"SELECT environment, release, occurrences FROM deployments WHERE environment != ''":                                                                  {`"environment":"production"`, `"release":"1.0"`, `"occurrences":6`},
		"SELECT count() AS n, max(number) AS last, uniqExact(position) AS places, any(environment) AS place FROM occurrences WHERE signature = (SELECT signature FROM records WHERE exception_class = 'OrderError')": {
			`"n":6`, `"last":6`, `"places":6`, `"place":"production"`,
		},
		"SELECT count() AS n FROM records WHERE level >= 'critical'":                                                  {`"n":1`},
		"SELECT ip, request FROM module_log WHERE error != ''":                                                        {`"ip":"203.0.113.9"`, `pay`},
		"SELECT sequence = hours_sequence AS same, log_made > now() - INTERVAL 1 HOUR AS fresh FROM projection":       {`"fresh":1`},
		"SELECT groupArray(name) AS names FROM (SELECT name FROM storage WHERE rows > 0 AND bytes > 0 ORDER BY name)": {`"contexts","deployments","hourly","module_log","occurrences","query_log","records"`},
	} {
		rows := jsonRows(t, conn, query)
		if len(rows) != 1 {
			t.Errorf("%s: %d rows, want one", query, len(rows))
			continue
		}
		for _, part := range parts {
			if !strings.Contains(rows[0], part) {
				t.Errorf("%s has no %s: %s", query, part, rows[0])
			}
		}
	}
	if err := conn.Exec(t.Context(), "SELECT * FROM errata_store.records"); err == nil || !strings.Contains(err.Error(), "code: 497") {
		t.Errorf("the tables answered %v, want a refusal", err)
	}
}

// makeHistory sends the events for the queries and returns when all of them can be
// read.
func makeHistory(t *testing.T, a *app.App, data string) {
	t.Helper()
	keys := keyFiles(t, data)
	yesterday := time.Now().Add(-26 * time.Hour).UTC().Format(time.RFC3339)
	send := func(path, body string) {
		t.Helper()
		if status, answer := request(t, http.MethodPost, a.Welcome().URL+path, keys[datadir.IngestKeyFile], body); status/100 != 2 {
			t.Fatalf("%s: %d %s", path, status, answer)
		}
	}
	events := func(n int, more, rest string) {
		send("/api/v1/events", strings.Repeat("{"+more+rest+"}\n", n))
	}
	old := `"time":"` + yesterday + `",`
	// Before the deployment of release 2.0, by the clock too: a fast machine takes all of
	// these events in one millisecond.
	before := `"time":"` + time.Now().Add(-time.Minute).UTC().Format(time.RFC3339) + `",`
	const (
		order = `"message":"order failed","exception_class":"OrderError","file":"orders.go","line":51,"user_id":7,"ip":"203.0.113.9",` +
			`"request_uri":"/checkout","request_method":"POST","environment":"production","release":"1.0"`
		poll  = `"message":"poll failed","exception_class":"PollError","level":"warning","ip":"2001:db8::7"`
		fresh = `"id":"once","message":"new","exception_class":"NewError","level":"fatal","user_id":7,"release":"2.0"`
		db    = `"message":"deadlock","exception_class":"PDOException","type":"database","file":"db.php"`
		flaky = `"message":"flaky","exception_class":"FlakyError"`
	)
	admin := keys[datadir.AdminKeyFile]
	if status, body := request(t, http.MethodPut, a.Welcome().URL+"/api/v1/admin/tools/logs/settings", admin, `{"module_log":1,"query_logging":1}`); status != http.StatusOK {
		t.Fatalf("switch on: %d %s", status, body)
	}
	events(1, old, order)
	events(20, old, poll)
	events(1, old, db)
	events(1, old, flaky)
	resolve(t, a, admin, "FlakyError")
	events(5, before, order)
	events(10, before, poll)
	events(3, before, db)
	events(2, before, flaky)
	events(2, "", fresh) // one of them again
	events(1, "", strings.Replace(fresh, "once", "twice", 1))
	send("/api/v1/logs/modules", `[{"module":"payment","direction":"out","target":"https://bank.example/pay?card=1","ip":"203.0.113.9","request":"pay","error":"timed out","duration_ms":9000},
		{"module":"payment","direction":"out","target":"https://bank.example/a"},{"module":"payment","direction":"out","target":"https://bank.example/b"},{"module":"mail"}]`)
	send("/api/v1/logs/queries", `[{"query":"SELECT * FROM orders WHERE id = 7","duration_ms":200,"rows":9},
		{"query":"SELECT * FROM orders WHERE id = 8","duration_ms":300,"error":"deadlock"},{"query":"SELECT 1","duration_ms":1}]`)
	// As the reader, who has no quota and reads the tables. Rows that cancel each other
	// do not count there.
	awaitOne(t, openFile(t, data, "clickhouse.dsn"), `SELECT
		(SELECT sumIf(toInt64(count) * sign, book != 'checkpoint') FROM records) = 45
		AND (SELECT count() FROM module_log) = 4 AND (SELECT count() FROM query_log) = 3`)
}

// resolve waits for the record of a class and says that it is done.
func resolve(t *testing.T, a *app.App, admin, class string) {
	t.Helper()
	var signature string
	awaitRecords(t, a, func(rows []row) bool {
		for _, r := range rows {
			if r.ExceptionClass == class {
				signature = r.Signature
			}
		}
		return signature != ""
	})
	body := fmt.Sprintf(`{"signatures":[%q],"status":"resolved"}`, signature)
	if status, answer := request(t, http.MethodPost, a.Welcome().URL+"/api/v1/admin/tools/logs/errors/status", admin, body); status != http.StatusOK {
		t.Fatalf("resolve: %d %s", status, answer)
	}
}

// awaitOne asks until the answer is 1.
func awaitOne(t *testing.T, conn driver.Conn, query string) {
	t.Helper()
	type answer struct {
		number uint8
		err    error
	}
	await(t, query, func() (got answer) {
		got.err = conn.QueryRow(t.Context(), query).Scan(&got.number)
		return got
	}, func(got answer) bool { return got == answer{number: 1} })
}

// analyst connects as docs/analysts.md says.
func analyst(t *testing.T, data string) driver.Conn {
	t.Helper()
	return openFile(t, data, "clickhouse-analyst.dsn")
}

func openFile(t *testing.T, data, name string) driver.Conn {
	t.Helper()
	options, err := clickhouse.ParseDSN(key(t, filepath.Join(data, "run", name)))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// jsonRows are the rows of a query, each as a JSON object.
func jsonRows(t *testing.T, conn driver.Conn, query string) (list []string) {
	t.Helper()
	rows, err := conn.Query(context.WithoutCancel(t.Context()), "SELECT formatRowNoNewline('JSONEachRow', *) FROM ("+query+") SETTINGS output_format_json_quote_64bit_integers = 0")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			t.Fatal(err)
		}
		list = append(list, one)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}
