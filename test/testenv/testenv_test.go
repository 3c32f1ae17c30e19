package testenv_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func TestTwoTestsShareNothing(t *testing.T) {
	ctx := t.Context()
	a, b := testenv.New(t), testenv.New(t)
	if a.Database == b.Database || a.Namespace == b.Namespace || a.Dir == b.Dir {
		t.Fatalf("two tests got the same: %q %q, %q %q, %q %q", a.Database, b.Database, a.Namespace, b.Namespace, a.Dir, b.Dir)
	}
	if err := a.ClickHouse.Exec(ctx, "INSERT INTO contexts (book, signature, id, payload, gone) VALUES (1, '', 1, '', 0)"); err != nil {
		t.Fatal(err)
	}
	if got := contexts(t, a); got != 1 {
		t.Errorf("the test that inserted sees %d rows, want 1", got)
	}
	if got := contexts(t, b); got != 0 {
		t.Errorf("the other test sees %d rows, want 0", got)
	}
	publish(t, a)
	if got := lastSequence(t, a); got != 1 {
		t.Errorf("the log of the test that published ends at %d, want 1", got)
	}
	if got := lastSequence(t, b); got != 0 {
		t.Errorf("the log of the other test ends at %d, want 0", got)
	}
}

// What a test gets is what the files make, whether they were copied or not.
func TestTablesAreThoseOfTheFiles(t *testing.T) {
	env := testenv.New(t)
	made := env.Database + "_files"
	if err := env.ClickHouse.Exec(t.Context(), "CREATE DATABASE `"+made+"`"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.ClickHouse.Exec(context.WithoutCancel(t.Context()), "DROP DATABASE `"+made+"` SYNC"); err != nil {
			t.Error(err)
		}
	})
	options := env.ClickHouseOptions()
	options.Auth.Database = made
	if err := migrations.ClickHouse(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	tables := func(database string) (list []string) {
		row := env.ClickHouse.QueryRow(t.Context(), `SELECT arraySort(groupArray(replaceAll(create_table_query, concat(database, '.'), '')))
			FROM system.tables WHERE database = ?`, database)
		if err := row.Scan(&list); err != nil {
			t.Fatal(err)
		}
		return list
	}
	if diff := cmp.Diff(tables(made), tables(env.Database)); diff != "" {
		t.Errorf("tables (-of the files +of the test):\n%s", diff)
	}
	applied := func(database string) (files string) {
		row := env.ClickHouse.QueryRow(t.Context(), "SELECT toString(arraySort(groupUniqArray((version, name, sha256)))) FROM `"+database+"`.schema_migrations")
		if err := row.Scan(&files); err != nil {
			t.Fatal(err)
		}
		return files
	}
	if want, got := applied(made), applied(env.Database); got != want {
		t.Errorf("the test's tables say that these files were applied: %s\nwant %s", got, want)
	}
}

func TestReadOnlyClickHouseChangesNothing(t *testing.T) {
	env := testenv.New(t)
	if err := env.ReadOnlyClickHouse.Exec(t.Context(), "INSERT INTO contexts (book, signature, id, payload, gone) VALUES (1, '', 1, '', 0)"); err == nil {
		t.Error("an insert through the read-only connection was accepted")
	}
	var rows uint64
	if err := env.ReadOnlyClickHouse.QueryRow(t.Context(), "SELECT count() FROM contexts").Scan(&rows); err != nil || rows != 0 {
		t.Errorf("the read-only connection read %d rows, error %v; want 0 rows", rows, err)
	}
}

func TestNothingIsLeft(t *testing.T) {
	env := testenv.New(t)
	databases := func(of *testenv.Env) (n uint64) {
		row := env.ClickHouse.QueryRow(t.Context(), "SELECT count() FROM system.databases WHERE name IN (?, ?)", of.Database, of.Views())
		if err := row.Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	var gone *testenv.Env
	t.Run("a test", func(t *testing.T) {
		gone = testenv.New(t)
		if got := databases(gone); got != 2 {
			t.Errorf("a test has %d databases, want its tables and its views", got)
		}
	})
	if got := databases(gone); got != 0 {
		t.Errorf("%d databases are left of a test that has ended", got)
	}
}

func TestFaultsKeepTheData(t *testing.T) {
	env := testenv.New(t)
	env.NeedEmbedded()
	if err := env.ClickHouse.Exec(t.Context(), "INSERT INTO contexts (book, signature, id, payload, gone) VALUES (1, '', 1, '', 0)"); err != nil {
		t.Fatal(err)
	}
	publish(t, env)

	env.KillClickHouse()
	if got := contexts(t, env); got != 1 {
		t.Errorf("after kill -9 ClickHouse has %d rows, want 1", got)
	}
	env.RestartNATS()
	publish(t, env)
	if got := lastSequence(t, env); got != 2 {
		t.Errorf("after a restart of NATS and one more message the log ends at %d, want 2", got)
	}
}

func contexts(t *testing.T, env *testenv.Env) (rows uint64) {
	t.Helper()
	if err := env.ClickHouse.QueryRow(t.Context(), "SELECT count() FROM contexts").Scan(&rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func publish(t *testing.T, env *testenv.Env) {
	t.Helper()
	if _, err := env.JetStream.Publish(t.Context(), migrations.SubjectPrefix(env.Namespace)+"ev.0", []byte("x")); err != nil {
		t.Fatal(err)
	}
}

func lastSequence(t *testing.T, env *testenv.Env) uint64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	stream, err := env.JetStream.Stream(ctx, migrations.StreamName(env.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	return stream.CachedInfo().State.LastSeq
}
