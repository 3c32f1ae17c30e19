package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/errata-log/errata/engine"
)

// harmless are the table functions that only reach tables, which need a right, and made
// up rows. A function of a new engine that is not in this list and is not refused fails
// the test below.
var harmless = words(`dictionary eval format fuzzJSON fuzzQuery generateRandom generateSeries generate_series input loop
	merge mergeTreeAnalyzeIndexes mergeTreeAnalyzeIndexesUUID mergeTreeIndex mergeTreeProjection mergeTreeTextIndex null
	numbers numbers_mt primes prometheusQuery prometheusQueryRange timeSeriesData timeSeriesMetrics timeSeriesSamples
	timeSeriesSelector timeSeriesTags values view viewExplain viewIfPermitted zeros zeros_mt SQLStandardValues`)

func words(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// The arguments for table functions: some take these, some those.
var arguments = []string{
	"'http://127.0.0.1:1/bucket/key', LineAsString", "'http://127.0.0.1:1/bucket/key'",
	"'/etc/passwd', LineAsString", "'/etc/passwd'", "'a', 'b'", "'a', 'b', 'c'", "'a', 'b', 'c', 'd'", "'a', 'b', 'c', 'd', 'e'",
	"'127.0.0.1:1', system.one", "'127.0.0.1:1', 'a', 'b', 'c', 'd'", "'127.0.0.1:1', 'a', 'b', 'c', 'd', 'e String'",
	"'hdfs://127.0.0.1:1/f', LineAsString", "'true', LineAsString, 'a String'", "'127.0.0.1:1', 'key', 'key String, a String'",
	"'default', 'http://127.0.0.1:1/bucket/key', LineAsString",
}

// people are the users of the engine, each with a connection.
func people(t *testing.T, e *engine.Engines, dir string) map[string]driver.Conn {
	return map[string]driver.Conn{"writer": e.ClickHouse(), "reader": e.ReadOnlyClickHouse(), "analyst": analyst(t, dir)}
}

// Other reasons for a refusal than a missing right: there is no cluster, and no program
// to run.
var missing = []string{"code: 701", "does not exist inside user scripts folder"}

func nothingThere(err error) bool {
	return slices.ContainsFunc(missing, func(text string) bool { return strings.Contains(err.Error(), text) })
}

func TestTableFunctionsReachNothing(t *testing.T) {
	dir := t.TempDir()
	e := withView(t, dir)
	var names []string
	if err := e.ClickHouse().QueryRow(t.Context(), "SELECT groupArray(name) FROM system.table_functions").Scan(&names); err != nil {
		t.Fatal(err)
	}
	if len(names) < 50 {
		t.Fatalf("the engine has %d table functions", len(names))
	}
	for who, conn := range people(t, e, dir) {
	functions:
		for _, name := range names {
			if harmless[name] {
				continue
			}
			var said []string
			for _, with := range arguments {
				err := conn.Exec(t.Context(), "SELECT * FROM "+name+"("+with+")")
				switch {
				case err == nil:
					t.Errorf("%s(%s) answered the %s", name, with, who)
				case refused(err), nothingThere(err):
					continue functions
				default:
					said = append(said, err.Error())
				}
			}
			t.Errorf("the %s is not refused %s: %s", who, name, strings.Join(said, "\n"))
		}
	}
}

// TestFunctionsReachNothing: every user may call the functions of the engine, such as
// file, which reads the files that the engine can read.
func TestFunctionsReachNothing(t *testing.T) {
	dir := t.TempDir()
	e := withView(t, dir)
	secret := filepath.Join(dir, "clickhouse", "planted")
	if err := os.WriteFile(secret, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	quoted := "'" + secret + "'"
	statements := []string{
		"SELECT file(%s)", "SELECT file(%s, 'default')", "SELECT `file`(%s)", `SELECT "f\x69le"(%s)`, "SELECT file /* */ (%s)",
		"SELECT arrayMap(file, [%s])", "SELECT arrayMap(p -> file(p), [%s])", "SELECT arrayMap(file, [%s], ['x'])",
		"SELECT * APPLY(file) FROM (SELECT %s AS p)", "SELECT COLUMNS('p') APPLY file FROM (SELECT %s AS p)",
		"SELECT * REPLACE(file(p) AS p) FROM (SELECT %s AS p)", "SELECT * FROM view(SELECT file(%s))",
		"WITH (SELECT file(%s)) AS x SELECT x", "WITH p -> file(p) AS f SELECT f(%s)", "SELECT if(1, file(%s), '')",
		"SELECT 1 WHERE ignore(file(%s)) = 0", "SELECT 1 ORDER BY file(%s)", "SELECT max(file(p)) FROM (SELECT %s AS p)",
		"SELECT * FROM values('x String', (file(%s)))", "SELECT number FROM numbers(length(file(%s)))", "SELECT 1 LIMIT length(file(%s))",
		"SELECT n IN (file(%s)) FROM (SELECT 'x' AS n)", "SELECT CAST(file(%s), 'String')",
	}
	for _, old := range statements {
		statements = append(statements, old+" SETTINGS enable_analyzer = 0")
	}
	inText := strings.ReplaceAll(quoted, "'", `\'`)
	for who, conn := range people(t, e, dir) {
		for _, form := range statements {
			expectNoSecret(t, who, conn, fmt.Sprintf(form, quoted))
		}
		for _, form := range []string{
			"SELECT * FROM eval('SELECT file(%s)') SETTINGS allow_experimental_eval_table_function = 1",
			"SELECT * FROM format(Values, 'x String', '(file(%s))')",
			"SELECT * FROM format(Values, 'x String', '(upper(file(%s)))') SETTINGS input_format_values_interpret_expressions = 1",
		} {
			expectNoSecret(t, who, conn, fmt.Sprintf(form, inText))
		}
		for _, statement := range []string{
			"SELECT catboostEvaluate(" + quoted + ", 1)", "SELECT catboostEvaluate(" + quoted + ")",
			"SELECT aiGenerate('x') SETTINGS allow_experimental_ai_functions = 1", "SELECT AIGenerate('x') SETTINGS allow_experimental_ai_functions = 1",
			"SELECT dictGet('d', 'a', 1)",
			"DROP FUNCTION file", "CREATE FUNCTION f AS (p) -> p", "CREATE OR REPLACE FUNCTION file AS (p) -> p",
			"CREATE NAMED COLLECTION c AS a = 1", "CREATE USER u", "BACKUP DATABASE errata TO File('b')",
			"SELECT addressToLine(1)", "SYSTEM RELOAD DICTIONARIES ON CLUSTER c",
		} {
			expectNoSecret(t, who, conn, statement)
		}
	}
}

// expectNoSecret expects that the statement fails without showing the secret.
func expectNoSecret(t *testing.T, who string, conn driver.Conn, statement string) {
	t.Helper()
	rows, err := conn.Query(t.Context(), statement)
	for err == nil && rows.Next() {
		t.Errorf("%s: %s answered with a row of %v", who, statement, rows.Columns())
	}
	if err == nil {
		err = rows.Err()
		_ = rows.Close()
	}
	if err == nil {
		t.Errorf("%s: %s was not refused", who, statement)
	} else if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%s: %s: the refusal tells the secret: %v", who, statement, err)
	}
}

// TestEnvironmentIsNotRead: users of the engine cannot read the environment of the
// service, which may have the password of the mail server.
func TestEnvironmentIsNotRead(t *testing.T) {
	dir := t.TempDir()
	helper, _, child := startHelper(t, dir)
	conn := analyst(t, dir)
	for _, path := range []string{
		fmt.Sprintf("/proc/%d/environ", helper.Process.Pid), fmt.Sprintf("/proc/%d/cmdline", helper.Process.Pid),
		fmt.Sprintf("/proc/%d/environ", child), "/proc/1/environ", "/etc/passwd",
	} {
		var text string
		if err := conn.QueryRow(t.Context(), "SELECT file(?)", path).Scan(&text); err == nil {
			t.Errorf("an analyst has read %d bytes of %s", len(text), path)
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", child, child))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(status), "CapEff:\t0000000000000000\n") || !strings.Contains(string(status), "CapPrm:\t0000000000000000\n") {
		t.Errorf("the engine has capabilities:\n%s", status)
	}
}
