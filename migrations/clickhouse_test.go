package migrations_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/test/testenv"
)

// TestMain allows the goroutines that nats-server leaves when it ends while it
// copies a stream to more replicas.
func TestMain(m *testing.M) {
	const natsServer = "github.com/nats-io/nats-server/v2/server"
	testenv.Main(m, goleak.IgnoreAnyFunction(natsServer+".(*fileStore).flushStreamStateLoop"), goleak.IgnoreAnyFunction(natsServer+"/ats.Register.func1"))
}

// released are the files as they are in the source tree.
func released(t *testing.T) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	dir := os.DirFS("clickhouse")
	names, err := fs.Glob(dir, "*.sql")
	if err != nil || len(names) == 0 {
		t.Fatalf("no migrations were found: %v", err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	return files
}

// tables reads what must be equal in two databases.
func tables(t *testing.T, env *testenv.Env) (list []string) {
	t.Helper()
	rows, err := env.ClickHouse.Query(t.Context(), "SELECT concat(name, ' ', engine_full) FROM system.tables WHERE database = currentDatabase() ORDER BY name")
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

func count(t *testing.T, env *testenv.Env, query string) (n uint64) {
	t.Helper()
	if err := env.ClickHouse.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// New has applied everything already.
func TestClickHouseUpAndAgain(t *testing.T) {
	env := testenv.New(t)
	files := uint64(len(released(t)))
	before := tables(t, env)
	for _, want := range []string{"records ", "contexts ", "hourly ", "deployments ", "schema_migrations "} {
		if !strings.Contains(strings.Join(before, "\n"), want) {
			t.Errorf("there is no table %s among\n%s", want, strings.Join(before, "\n"))
		}
	}
	if got := count(t, env, "SELECT count() FROM schema_migrations WHERE version > 0 AND length(sha256) = 64 AND name != ''"); got != files {
		t.Errorf("%d files are noted, want %d", got, files)
	}
	begin := time.Now()
	if err := migrations.ClickHouse(t.Context(), env.ClickHouseOptions()); err != nil {
		t.Fatal(err)
	}
	t.Logf("nothing to do took %s", time.Since(begin).Round(time.Millisecond))
	if after := tables(t, env); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("a second run changed the tables from\n%s\nto\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	if got := count(t, env, "SELECT count() FROM schema_migrations WHERE version > 0"); got != files {
		t.Errorf("after a second run %d files are noted, want %d", got, files)
	}
}

// A table without these settings loses confirmed rows at a power cut.
func TestTablesAreSynced(t *testing.T) {
	env := testenv.New(t)
	const made = "SELECT count() FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'"
	if n := count(t, env, made); n < 5 {
		t.Fatalf("%d tables of rows, want records, contexts, hourly, deployments and the history at least", n)
	}
	synced := made + " AND create_table_query LIKE '%fsync_after_insert = 1%' AND create_table_query LIKE '%fsync_part_directory = 1%'"
	if all, got := count(t, env, made), count(t, env, synced); got != all {
		t.Errorf("%d of %d tables have on disk what they confirm", got, all)
	}
}

func TestClickHouseTwoAtOnce(t *testing.T) {
	env := testenv.New(t)
	options := env.ClickHouseOptions()
	for range 2 { // and TestGranulesFromManyNodes
		if err := env.ClickHouse.Exec(t.Context(), "DROP TABLE schema_migrations SYNC"); err != nil {
			t.Fatal(err)
		}
		// The tables exist: a lost history is made again.
		errs := make([]error, 3)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { errs[i] = migrations.ClickHouse(t.Context(), options) })
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if err := migrations.ClickHouse(t.Context(), options); err != nil {
			t.Fatalf("after three at once: %v", err)
		}
	}
}

func TestClickHouseRefusals(t *testing.T) {
	const changed, newer = "00002_payloads.sql", "00099_newer.sql"
	for name, test := range map[string]struct {
		before, after func(fstest.MapFS)
		want          []string // nil for no error
	}{
		"nothing changed": {nil, nil, nil},
		"one more file": {nil, func(f fstest.MapFS) {
			f[newer] = &fstest.MapFile{Data: []byte("-- +goose Up\nCREATE TABLE IF NOT EXISTS newer (n UInt64) ENGINE = MergeTree ORDER BY n;\n")}
		}, nil},
		"one byte changed": {nil, func(f fstest.MapFS) {
			f[changed] = &fstest.MapFile{Data: append([]byte("-- "), f[changed].Data...)}
		}, []string{changed, "has changed since it was applied"}},
		"renamed only": {nil, func(f fstest.MapFS) {
			f["00002_other.sql"] = f[changed]
			delete(f, changed)
		}, nil},
		"missing in this program": {func(f fstest.MapFS) {
			f[newer] = &fstest.MapFile{Data: []byte("-- +goose Up\nSELECT 1;\n")}
		}, func(f fstest.MapFS) { delete(f, newer) }, []string{newer, "not in this program"}},
		"two with one number": {nil, func(f fstest.MapFS) {
			f["00002_again.sql"] = f[changed]
		}, []string{"00002_again.sql", changed, "the same number"}},
		"without a number": {nil, func(f fstest.MapFS) {
			f["records.sql"] = f[changed]
		}, []string{"records.sql", "number"}},
		"wrong SQL": {nil, func(f fstest.MapFS) {
			f[newer] = &fstest.MapFile{Data: []byte("-- +goose Up\nCREATE TABEL x;\n")}
		}, []string{newer, "Syntax error"}},
	} {
		t.Run(name, func(t *testing.T) {
			env := testenv.New(t) // it has applied the released files
			files := released(t)
			if test.before != nil {
				test.before(files)
			}
			if err := migrations.ApplyForTest(t.Context(), env.ClickHouseOptions(), files); err != nil {
				t.Fatal(err)
			}
			if test.after != nil {
				test.after(files)
			}
			err := migrations.ApplyForTest(t.Context(), env.ClickHouseOptions(), files)
			if (err == nil) != (test.want == nil) {
				t.Fatalf("error %v, want one with %q", err, test.want)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

// After a failure in the middle, the applied files are noted, and the next run
// continues after them.
func TestClickHouseGoesOnAfterAFailure(t *testing.T) {
	env := testenv.New(t)
	files := released(t)
	files["00090_first.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\nCREATE TABLE IF NOT EXISTS first (n UInt64) ENGINE = MergeTree ORDER BY n;\n")}
	files["00091_second.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\nCREATE TABEL x;\n")}
	if err := migrations.ApplyForTest(t.Context(), env.ClickHouseOptions(), files); err == nil {
		t.Fatal("wrong SQL was applied")
	}
	if got := count(t, env, "SELECT toUInt64(max(version)) FROM schema_migrations"); got != 90 {
		t.Errorf("the last noted file is %d, want 90", got)
	}
	files["00091_second.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\nCREATE TABLE IF NOT EXISTS second (n UInt64) ENGINE = MergeTree ORDER BY n;\n")}
	if err := migrations.ApplyForTest(t.Context(), env.ClickHouseOptions(), files); err != nil {
		t.Fatal(err)
	}
	if got := count(t, env, "SELECT toUInt64(max(version)) FROM schema_migrations"); got != 91 {
		t.Errorf("the last noted file is %d, want 91", got)
	}
}

func TestClickHouseNeedsADatabase(t *testing.T) {
	env := testenv.New(t)
	options := env.ClickHouseOptions()
	options.Auth.Database = ""
	if err := migrations.ClickHouse(t.Context(), options); err == nil {
		t.Error("migrations were applied to no database")
	}
}

// A gap in the numbers could be filled later, and databases that are past it would
// miss that file.
func TestReleasedFilesAreNumberedWithoutGaps(t *testing.T) {
	n := 0
	for name := range released(t) {
		n++
		if !strings.HasPrefix(path.Base(name), "000") {
			t.Errorf("%s does not begin with five digits", name)
		}
	}
	for i := range n {
		prefix := fmt.Sprintf("%05d_", i+1)
		if matches, err := fs.Glob(released(t), prefix+"*.sql"); err != nil || len(matches) != 1 {
			t.Errorf("%d files begin with %s, error %v, want 1", len(matches), prefix, err)
		}
	}
}
