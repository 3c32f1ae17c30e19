//go:build linux

package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/errata-log/errata/engine"
)

// analyst connects as people do, with the DSN in the run folder.
func analyst(t *testing.T, dataDir string) driver.Conn {
	t.Helper()
	path := filepath.Join(dataDir, "run", "clickhouse-analyst.dsn")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("%s has mode %v, want 0600", path, info.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	options, err := clickhouse.ParseDSN(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	options.MaxOpenConns = 40 // more than the engine lets run
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// ddlIsOff is the error for a user without the right to make anything.
const ddlIsOff = "code: 392"

// withView is an engine with one table and one view, made as at a start.
func withView(t *testing.T, dir string) *engine.Engines {
	t.Helper()
	e := start(t, config(t, dir))
	exec(t, e, createTable)
	exec(t, e, "INSERT INTO t VALUES (1)")
	exec(t, e, "CREATE DATABASE "+e.Views())
	exec(t, e, "CREATE VIEW "+e.Views()+".v (n UInt64) DEFINER = CURRENT_USER SQL SECURITY DEFINER AS SELECT n FROM "+e.Database()+".t")
	return e
}

func TestAnalystReadsViewsAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	e := withView(t, dir)
	conn := analyst(t, dir)
	var rows uint64
	if err := conn.QueryRow(t.Context(), "SELECT count() FROM v SETTINGS max_execution_time = 30, max_threads = 1").Scan(&rows); err != nil || rows != 1 {
		t.Fatalf("the view has %d rows, error %v, want 1", rows, err)
	}
	for _, statement := range []string{
		"INSERT INTO v VALUES (2)", "INSERT INTO errata_store.t VALUES (2)",
		"ALTER TABLE errata_store.t DELETE WHERE 1", "TRUNCATE TABLE errata_store.t",
		"DROP VIEW v", "DROP TABLE errata_store.t", "DROP DATABASE errata",
		"CREATE TABLE x (n UInt64) ENGINE = Memory", "CREATE VIEW w AS SELECT 1", "CREATE TEMPORARY TABLE x (n UInt64)",
		"CREATE OR REPLACE VIEW v AS SELECT 1",
		"SELECT * FROM errata_store.t", "SELECT count() FROM errata_store.t", "SHOW CREATE TABLE errata_store.t",
		"SELECT * FROM loop(errata_store.t)", "SELECT * FROM mergeTreeIndex('errata_store', 't')",
		"SELECT * FROM view(SELECT * FROM errata_store.t)",
		"SELECT * FROM file('/etc/passwd', LineAsString)", "SELECT * FROM url('http://127.0.0.1:1/', LineAsString)",
		"SELECT * FROM s3('http://127.0.0.1:1/bucket/key', LineAsString)", "SELECT * FROM remote('127.0.0.1:1', system.one)",
		"SELECT * FROM mysql('127.0.0.1:1', 'a', 'b', 'c', 'd')", "SELECT * FROM postgresql('127.0.0.1:1', 'a', 'b', 'c', 'd')",
		"SELECT * FROM executable('true', LineAsString, 'a String')", "SELECT * FROM hdfs('hdfs://127.0.0.1:1/f', LineAsString)",
		"SELECT * FROM sqlite('x', 'y')", "SELECT * FROM mongodb('127.0.0.1:1', 'a', 'b', 'c', 'd', 'e String')",
		"SELECT * FROM system.processes", "SELECT * FROM system.users", "SELECT * FROM system.parts", "SELECT * FROM system.errors",
		"SELECT * FROM system.server_settings",
		"SYSTEM SHUTDOWN", "SYSTEM FLUSH LOGS", "KILL QUERY WHERE 1", "BACKUP TABLE v TO File('b')", "CREATE USER u",
		"SET readonly = 0", "SELECT 1 SETTINGS readonly = 0", "SELECT 1 SETTINGS allow_ddl = 1",
		"SELECT 1 SETTINGS max_execution_time = 66", "SELECT 1 SETTINGS max_execution_time = 0",
		"SELECT 1 SETTINGS max_memory_usage = 0", "SELECT 1 SETTINGS max_memory_usage_for_user = 0", "SELECT 1 SETTINGS max_rows_to_read = 0", "SELECT 1 SETTINGS max_result_rows = 0",
		"SELECT 1 SETTINGS max_concurrent_queries_for_user = 100", "SELECT 1 SETTINGS max_concurrent_queries_for_user = 0",
		"SELECT 1 SETTINGS allow_introspection_functions = 1",
		"SELECT 1 SETTINGS max_temporary_data_on_disk_size_for_query = 0", "SELECT 1 SETTINGS timeout_overflow_mode = 'break'",
	} {
		if err := conn.Exec(t.Context(), statement); !refused(err) && !strings.Contains(fmt.Sprint(err), ddlIsOff) {
			t.Errorf("%s: %v, want a refusal", statement, err)
		}
	}
	exec(t, e, "SELECT throwIf(count() != 1) FROM t")
	exec(t, e, "SELECT throwIf(count() != 1) FROM errata.v")
}

// An analyst does not see the names of tables that it may not read.
func TestAnalystSeesNoOtherNames(t *testing.T) {
	dir := t.TempDir()
	withView(t, dir)
	var names []string
	if err := analyst(t, dir).QueryRow(t.Context(),
		"SELECT groupUniqArray(database || '.' || table) FROM system.columns WHERE database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema')").Scan(&names); err != nil {
		t.Fatal(err)
	}
	if len(names) != 1 || names[0] != "errata.v" {
		t.Errorf("an analyst is shown the columns of %v, want those of errata.v", names)
	}
}

// The engine cannot read the files with the passwords of other users.
func TestAnalystReadsNoPassword(t *testing.T) {
	dir := t.TempDir()
	withView(t, dir)
	conn := analyst(t, dir)
	for _, path := range []string{"run/clickhouse.dsn", "run/clickhouse-analyst.dsn", "keys/admin.key", "errata.lock"} {
		var text string
		if err := conn.QueryRow(t.Context(), "SELECT file(?)", filepath.Join(dir, path)).Scan(&text); err == nil {
			t.Errorf("an analyst has read %d bytes of %s", len(text), path)
		}
	}
}

// A query that needs more than its memory works on the disk.
func TestAnalystWorksOnDisk(t *testing.T) {
	dir := t.TempDir()
	withView(t, dir)
	conn := analyst(t, dir)
	const many = 10_000_000
	for name, query := range map[string]string{
		"groups": "SELECT count() FROM (SELECT number AS n, count() FROM numbers(10000000) GROUP BY n)",
		"sort":   "SELECT count() FROM (SELECT number AS n, toString(n) AS s FROM numbers(10000000) ORDER BY intHash64(n) LIMIT 10000000)",
	} {
		var n uint64
		if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil || n != many {
			t.Errorf("%s: %d rows, error %v, want %d", name, n, err, many)
		}
	}
}

// 1,500 queries run in an hour, and 32 at a time.
func TestAnalystQuota(t *testing.T) {
	dir := t.TempDir()
	withView(t, dir)
	conn := analyst(t, dir)
	const bound = 1500
	n := 0
	var err error
	for ; n <= bound && err == nil; n++ {
		err = conn.Exec(t.Context(), "SELECT count() FROM v")
	}
	if err == nil || !strings.Contains(err.Error(), "code: 201") {
		t.Fatalf("after %d queries the answer is %v, want one about the quota", n, err)
	}
	if n != bound+1 {
		t.Errorf("query %d was refused, want number %d", n, bound+1)
	}
}

func TestAnalystQueriesAtOnce(t *testing.T) {
	dir := t.TempDir()
	withView(t, dir)
	conn := analyst(t, dir)
	const bound, tries = 32, 36
	answers := make(chan error, tries)
	for range tries {
		go func() { answers <- conn.Exec(t.Context(), "SELECT sleepEachRow(1) FROM v") }()
	}
	done, turnedAway := 0, 0
	for range tries {
		switch err := <-answers; {
		case err == nil:
			done++
		case strings.Contains(err.Error(), "code: 202"):
			turnedAway++
		default:
			t.Error(err)
		}
	}
	if done != bound || turnedAway != tries-bound {
		t.Errorf("%d of %d queries ran and %d were turned away, want %d at once", done, tries, turnedAway, bound)
	}
}

// An older service has left tables in the database of the views.
func TestTablesMakeRoomForViews(t *testing.T) {
	dir := t.TempDir()
	e := start(t, config(t, dir))
	for _, statement := range []string{
		"DROP DATABASE errata_store",
		"CREATE DATABASE errata", "CREATE DATABASE errata_snapshot", "CREATE DATABASE errata_mine",
		"CREATE TABLE errata.records (n UInt64, sign Int8, version UInt64) ENGINE = VersionedCollapsingMergeTree(sign, version) ORDER BY n",
		"CREATE TABLE errata_snapshot.records (n UInt64) ENGINE = MergeTree ORDER BY n",
		"INSERT INTO errata.records VALUES (7, 1, 1)",
	} {
		exec(t, e, statement)
	}
	for round := range 2 {
		stop(t, e)
		e = start(t, config(t, dir))
		var n uint64
		if err := e.ClickHouse().QueryRow(t.Context(), "SELECT n FROM records").Scan(&n); err != nil || n != 7 {
			t.Errorf("start %d: the record is %d, error %v, want 7", round, n, err)
		}
		var names []string
		if err := e.ClickHouse().QueryRow(t.Context(), "SELECT arraySort(groupArray(name)) FROM system.databases WHERE name LIKE 'errata%'").Scan(&names); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(names, " "); got != "errata_mine errata_store errata_store_snapshot" {
			t.Errorf("start %d: the databases are %s", round, got)
		}
	}

	// Nothing is renamed on an external server; the error says what to do.
	exec(t, e, "RENAME DATABASE errata_store TO errata")
	elsewhere := engine.ClickHouseConfig{DSN: e.ClickHouseForTest().DSNForTest(), Logger: quiet}
	_, err := engine.StartClickHouse(t.Context(), elsewhere)
	if err == nil || !strings.Contains(err.Error(), "RENAME DATABASE errata TO errata_store") {
		t.Errorf("error %v does not say what to do", err)
	}
	elsewhere.Database = "errata"
	same, err := engine.StartClickHouse(t.Context(), elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	var n uint64
	if err := same.Conn().QueryRow(t.Context(), "SELECT n FROM records").Scan(&n); err != nil || n != 7 {
		t.Errorf("the record is %d, error %v, want 7", n, err)
	}
	if err := same.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
