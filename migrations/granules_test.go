package migrations_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/test/testenv"
)

// coarse makes the table records as the files make it, with granules of 512 rows,
// and puts records and a checkpoint into several parts of it.
func coarse(t *testing.T, env *testenv.Env) {
	t.Helper()
	for _, statement := range []string{"DROP TABLE records SYNC", "DROP TABLE schema_migrations SYNC"} {
		exec(t, env, statement)
	}
	files := released(t)
	const fast = "00011_fast_lists.sql"
	before := fstest.MapFS{}
	for name, file := range files {
		if name < fast {
			before[name] = file
		}
	}
	if err := migrations.ApplyForTest(t.Context(), env.ClickHouseOptions(), before); err != nil {
		t.Fatal(err)
	}
	fill(t, env, 0)
	if err := migrations.ApplyForTest(t.Context(), env.ClickHouseOptions(), files); err != nil {
		t.Fatal(err)
	}
	fill(t, env, 3000)
	exec(t, env, "INSERT INTO records (book, id, version, count, checkpoint, sign) VALUES ('checkpoint', 0, 7, 6000, '{}', 1)")
	if got := granules(t, env); got != "512" {
		t.Fatalf("the table begins with granules of %s rows", got)
	}
}

// kept keeps the table that coarse has made. The function that it returns puts it back,
// which takes a tenth of the time that the files take.
func kept(t *testing.T, env *testenv.Env) (again func()) {
	t.Helper()
	clone := func(from, to string) {
		exec(t, env, "CREATE TABLE "+to+" AS "+from)
		exec(t, env, "ALTER TABLE "+to+" ATTACH PARTITION tuple() FROM "+from)
	}
	clone("records", "coarse")
	return func() {
		exec(t, env, "DROP TABLE records SYNC")
		clone("coarse", "records")
	}
}

// fill adds 3,000 records; a third of them also have a cancelled state.
func fill(t *testing.T, env *testenv.Env, from int) {
	t.Helper()
	exec(t, env, fmt.Sprintf(`INSERT INTO records (book, signature, id, version, count, last_seen, message_preview, sign)
		SELECT 'system', reinterpretAsFixedString(generateUUIDv4()), number AS id, id AS version, 1, number, concat('Message ', toString(number)), s
		FROM numbers(%d, 3000) ARRAY JOIN if(number %% 3 = 0, [1, -1], [1]) AS s`, from))
}

func exec(t *testing.T, env *testenv.Env, statement string) {
	t.Helper()
	if err := env.ClickHouse.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func text(t *testing.T, env *testenv.Env, query string) (value string) {
	t.Helper()
	if err := env.ClickHouse.QueryRow(t.Context(), query).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

func granules(t *testing.T, env *testenv.Env) string {
	t.Helper()
	return text(t, env, "SELECT extract(engine_full, 'index_granularity = (\\\\d+)') FROM system.tables WHERE database = currentDatabase() AND name = 'records'")
}

// contents reads all rows of records, before or after a merge.
func contents(t *testing.T, env *testenv.Env) string {
	t.Helper()
	return text(t, env, `SELECT concat(toString(count()), ' rows, ', toString(sum(sign)), ' live, ', toString(countIf(book = 'checkpoint')), ' checkpoint, ',
		hex(sum(cityHash64(*, texts)))) FROM records`)
}

// created is the CREATE of records without its granules.
func created(t *testing.T, env *testenv.Env) string {
	t.Helper()
	return text(t, env, "SELECT replaceRegexpOne(create_table_query, '(MergeTree.* index_granularity = )\\\\d+', '\\\\1') FROM system.tables WHERE database = currentDatabase() AND name = 'records'")
}

// checkFine checks records after the step.
func checkFine(t *testing.T, env *testenv.Env, wantContents, wantCreated string) {
	t.Helper()
	if got := granules(t, env); got != "64" {
		t.Errorf("granules of %s rows, want 64", got)
	}
	if got := contents(t, env); got != wantContents {
		t.Errorf("records holds %s, want %s", got, wantContents)
	}
	if got := created(t, env); got != wantCreated {
		t.Errorf("records is\n%s\nwant\n%s", got, wantCreated)
	}
	if got := count(t, env, "SELECT count() FROM system.tables WHERE database = currentDatabase() AND name LIKE 'records_%'"); got != 0 {
		t.Errorf("%d tables were left over", got)
	}
}

func TestGranules(t *testing.T) {
	env := testenv.New(t)
	if got := granules(t, env); got != "64" {
		t.Errorf("a new table has granules of %s rows, want 64", got)
	}
	coarse(t, env)
	rows, table := contents(t, env), created(t, env)
	for range 2 {
		begin := time.Now()
		if err := migrations.ClickHouse(t.Context(), env.ClickHouseOptions()); err != nil {
			t.Fatal(err)
		}
		t.Logf("took %s", time.Since(begin).Round(time.Millisecond))
		checkFine(t, env, rows, table)
	}
}

// Parts from before the files of today can be merged with later ones, because they
// get the same ClickHouse projections. The merged part has the new granules.
func TestOldPartsMergeWithNewOnes(t *testing.T) {
	env := testenv.New(t)
	coarse(t, env)
	if err := migrations.ClickHouse(t.Context(), env.ClickHouseOptions()); err != nil {
		t.Fatal(err)
	}
	fill(t, env, 6000)
	// It waits for the earlier mutations.
	exec(t, env, "ALTER TABLE records MATERIALIZE PROJECTION by_time SETTINGS mutations_sync = 1")
	live := text(t, env, "SELECT toString(sum(sign)) FROM records")
	exec(t, env, "OPTIMIZE TABLE records FINAL SETTINGS optimize_throw_if_noop = 1")
	if got := text(t, env, "SELECT toString(sum(sign)) FROM records"); got != live {
		t.Errorf("%s records after the merge, want %s", got, live)
	}
	const part = " FROM system.parts WHERE database = currentDatabase() AND table = 'records' AND active"
	if got := text(t, env, "SELECT concat(toString(count()), ' parts, ', toString(sum(rows)), ' rows, ', toString(any(projections)))"+part); got != "1 parts, 6001 rows, ['by_group','by_time']" {
		t.Errorf("after a merge there are %s", got)
	}
	if rows, marks := count(t, env, "SELECT sum(rows)"+part), count(t, env, "SELECT sum(marks)"+part); marks < rows/64 {
		t.Errorf("%d marks for %d rows", marks, rows)
	}
	if got := count(t, env, "SELECT toUInt64(count()) FROM system.mutations WHERE database = currentDatabase() AND NOT is_done"); got != 0 {
		t.Errorf("%d mutations are not done", got)
	}
}

// crashing is a connection that fails after so many statements.
type crashing struct {
	driver.Conn
	left int
}

var errCrashed = errors.New("crashed")

func (c *crashing) Exec(ctx context.Context, query string, args ...any) error {
	if c.left--; c.left < 0 {
		return errCrashed
	}
	return c.Conn.Exec(ctx, query, args...)
}

func TestGranulesGoOnAfterACrash(t *testing.T) {
	t.Cleanup(migrations.SetGranuleWait(100 * time.Millisecond))
	env := testenv.New(t)
	coarse(t, env)
	again := kept(t, env)
	steps := 0
	for k := 0; ; k++ {
		again()
		rows, table := contents(t, env), created(t, env)
		err := migrations.SetGranulesForTest(t.Context(), &crashing{Conn: env.ClickHouse, left: k})
		if err == nil {
			break
		}
		if !errors.Is(err, errCrashed) {
			t.Fatalf("after %d statements: %v", k, err)
		}
		steps++
		if got := contents(t, env); got != rows {
			t.Errorf("after %d statements records holds %s, want %s", k, got, rows)
		}
		if err := migrations.ClickHouse(t.Context(), env.ClickHouseOptions()); err != nil {
			t.Fatalf("after %d statements: %v", k, err)
		}
		checkFine(t, env, rows, table)
	}
	if steps != 6 { // lock, create, link, exchange, drop, unlock
		t.Errorf("there are %d places to crash at, want 6", steps)
	}
}

// TestOwnGranulesWaitForNobody: a start on a server of its own does not wait for a lock that a
// crash has left.
func TestOwnGranulesWaitForNobody(t *testing.T) {
	t.Cleanup(migrations.SetGranuleWait(time.Hour))
	env := testenv.New(t)
	coarse(t, env)
	rows, table := contents(t, env), created(t, env)
	if err := migrations.SetGranulesForTest(t.Context(), &crashing{Conn: env.ClickHouse, left: 1}); !errors.Is(err, errCrashed) {
		t.Fatalf("behind the lock: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := migrations.OwnClickHouse(ctx, env.ClickHouseOptions()); err != nil {
		t.Fatal(err)
	}
	checkFine(t, env, rows, table)
}

func TestGranulesFromManyNodes(t *testing.T) {
	env := testenv.New(t)
	coarse(t, env)
	rows, table := contents(t, env), created(t, env)
	exec(t, env, "DROP TABLE schema_migrations SYNC") // every node applies every file
	errs := make([]error, 3)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = migrations.ClickHouse(t.Context(), env.ClickHouseOptions()) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	checkFine(t, env, rows, table)
}

// stalled is a connection that calls then before the first statement that contains
// begins.
type stalled struct {
	driver.Conn
	begins string
	then   func()
}

func (s *stalled) Exec(ctx context.Context, query string, args ...any) error {
	if strings.Contains(query, s.begins) && s.then != nil {
		then := s.then
		s.then = nil
		then()
	}
	return s.Conn.Exec(ctx, query, args...)
}

// A node stands still so long that another one takes over and begins to write. When
// the first one continues, it removes nothing of the other.
func TestGranulesOfANodeThatStoodStill(t *testing.T) {
	t.Cleanup(migrations.SetGranuleWait(100 * time.Millisecond))
	env := testenv.New(t)
	coarse(t, env)
	again := kept(t, env)
	for _, statement := range []string{"CREATE TABLE records_granules ", "CREATE TABLE records_granules_", "ALTER TABLE", "EXCHANGE TABLES", "DROP TABLE"} {
		again()
		var rows, table string
		conn := &stalled{Conn: env.ClickHouse, begins: statement, then: func() {
			if err := migrations.ClickHouse(t.Context(), env.ClickHouseOptions()); err != nil {
				t.Fatal(err)
			}
			fill(t, env, 6000)
			rows, table = contents(t, env), created(t, env)
		}}
		if err := migrations.SetGranulesForTest(t.Context(), conn); err != nil {
			t.Fatalf("stopped before %s: %v", statement, err)
		}
		if conn.then != nil {
			t.Fatalf("there was no %s", statement)
		}
		checkFine(t, env, rows, table)
	}
}

// Settings that an operator has given the table stay.
func TestGranulesLeaveOtherSettings(t *testing.T) {
	env := testenv.New(t)
	coarse(t, env)
	exec(t, env, "ALTER TABLE records MODIFY SETTING parts_to_throw_insert = 1234, min_index_granularity_bytes = 2048")
	rows, table := contents(t, env), created(t, env)
	if !strings.Contains(table, "parts_to_throw_insert = 1234") {
		t.Fatalf("the table is %s", table)
	}
	if err := migrations.ClickHouse(t.Context(), env.ClickHouseOptions()); err != nil {
		t.Fatal(err)
	}
	checkFine(t, env, rows, table)
}

// A computed column is the same whether a part has it or not, and in the end all
// parts have it.
func TestOldPartsGetTheColumns(t *testing.T) {
	env := testenv.New(t)
	coarse(t, env)
	const unfilled = `SELECT toUInt64(countIf(NOT hasAll(columns, ['whole', 'texts']))) FROM
		(SELECT name, groupArray(column) AS columns FROM system.parts_columns
		 WHERE database = currentDatabase() AND table = 'records' AND active GROUP BY name)`
	const worked = "SELECT hex(groupBitXor(cityHash64(signature, version, sign, whole, texts))) FROM records"
	if count(t, env, unfilled) == 0 {
		t.Fatal("no part is without the columns: not what this test is about")
	}
	before := text(t, env, worked)
	if err := migrations.ClickHouse(t.Context(), env.ClickHouseOptions()); err != nil {
		t.Fatal(err)
	}
	// It waits for the earlier mutations.
	exec(t, env, "ALTER TABLE records MATERIALIZE PROJECTION by_time SETTINGS mutations_sync = 1")
	if left := count(t, env, unfilled); left != 0 {
		t.Errorf("%d parts have not got the columns", left)
	}
	if after := text(t, env, worked); after != before {
		t.Errorf("the columns in the parts add up to %s, worked out to %s", after, before)
	}
	if failed := count(t, env, "SELECT toUInt64(countIf(latest_fail_reason != '')) FROM system.mutations WHERE database = currentDatabase()"); failed != 0 {
		t.Errorf("%d mutations failed", failed)
	}
}

// A column can be dropped also while it is being written into old parts.
func TestRowKeyGoesWhileItIsWritten(t *testing.T) {
	env := testenv.New(t)
	for _, statement := range []string{"DROP TABLE records SYNC", "DROP TABLE schema_migrations SYNC"} {
		exec(t, env, statement)
	}
	// The later files wait for the mutations before them, which stand still here.
	before, meanwhile := fstest.MapFS{}, fstest.MapFS{}
	for name, file := range released(t) {
		if name < "00015" {
			before[name] = file
		}
		if name < "00018" {
			meanwhile[name] = file
		}
	}
	if err := migrations.ApplyForTest(t.Context(), env.ClickHouseOptions(), before); err != nil {
		t.Fatal(err)
	}
	fill(t, env, 0)
	const written = "SELECT toUInt64(count()) FROM system.mutations WHERE database = currentDatabase() AND command LIKE '%MATERIALIZE COLUMN%row_key%'"
	exec(t, env, "SYSTEM STOP MERGES records")
	exec(t, env, "ALTER TABLE records MATERIALIZE COLUMN row_key SETTINGS mutations_sync = 0")
	if count(t, env, written+" AND NOT is_done") != 1 {
		t.Fatal("the column is not being written: not what this test is about")
	}
	rows := text(t, env, "SELECT hex(groupBitXor(cityHash64(signature, version, sign, message_preview))) FROM records")
	options := env.ClickHouseOptions()
	options.Settings = maps.Clone(options.Settings)
	if options.Settings == nil {
		options.Settings = clickhouse.Settings{}
	}
	options.Settings["alter_sync"] = 0 // do not wait for the parts
	if err := migrations.ApplyForTest(t.Context(), options, meanwhile); err != nil {
		t.Fatal(err)
	}
	exec(t, env, "SYSTEM START MERGES records")
	if err := migrations.ClickHouse(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	// It waits for the earlier mutations.
	exec(t, env, "ALTER TABLE records MATERIALIZE COLUMN whole SETTINGS mutations_sync = 1")
	if count(t, env, written) != 0 {
		t.Error("the column that went is still to be written")
	}
	if got := count(t, env, "SELECT toUInt64(count()) FROM system.columns WHERE database = currentDatabase() AND table = 'records' AND name = 'row_key'"); got != 0 {
		t.Error("the column row_key is still there")
	}
	if got := text(t, env, "SELECT hex(groupBitXor(cityHash64(signature, version, sign, message_preview))) FROM records"); got != rows {
		t.Errorf("the rows add up to %s, before to %s", got, rows)
	}
}
