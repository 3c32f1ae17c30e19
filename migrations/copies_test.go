package migrations_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"

	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/test/testenv"
)

// list reads the array that the query returns.
func list(t *testing.T, conn driver.Conn, query string) (all []string) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), query).Scan(&all); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return all
}

// definitions returns the statement that makes each table of the connection's database. The name
// of the database is left out.
func definitions(t *testing.T, conn driver.Conn) []string {
	t.Helper()
	return list(t, conn, "SELECT arraySort(groupArray(replaceOne(create_table_query, concat(database, '.'), ''))) FROM system.tables WHERE database = currentDatabase()")
}

// beside makes an empty database beside that of the test, and returns its name.
func beside(t *testing.T, env *testenv.Env, suffix string) string {
	t.Helper()
	name := env.Database + suffix
	exec(t, env, "CREATE DATABASE `"+name+"`")
	t.Cleanup(func() {
		if err := env.ClickHouse.Exec(context.WithoutCancel(t.Context()), "DROP DATABASE `"+name+"` SYNC"); err != nil {
			t.Error(err)
		}
	})
	return name
}

// TestConnectMakesTheSameTables as the files, whether it can copy those of the other database
// or not.
func TestConnectMakesTheSameTables(t *testing.T) {
	const applied = "SELECT arraySort(groupArray(concat(toString(version), ' ', toString(applied_at)))) FROM schema_migrations"
	made := testenv.New(t)
	options := *made.ClickHouseOptions()
	options.Auth.Database = beside(t, made, "_files")
	if err := migrations.ClickHouse(t.Context(), &options); err != nil {
		t.Fatal(err)
	}
	want := definitions(t, made.Open(&options))
	for _, c := range []struct {
		name   string
		damage string // of the database that is copied
		copied bool   // also which files were applied
	}{
		{name: "copied", damage: "SELECT 1", copied: true},
		{name: "without a table", damage: "DROP TABLE hourly SYNC"},
		{name: "without history", damage: "TRUNCATE TABLE schema_migrations"},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := testenv.New(t)
			exec(t, env, "INSERT INTO contexts (book) VALUES ('system')")
			exec(t, env, c.damage)
			conn, err := migrations.Connect(t.Context(), env.ClickHouseOptions(), env.Database)(beside(t, env, "_beside"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if diff := cmp.Diff(want, definitions(t, conn)); diff != "" {
				t.Errorf("tables (-files, +beside):\n%s", diff)
			}
			if rows := list(t, conn, "SELECT [toString(count())] FROM contexts"); rows[0] != "0" {
				t.Errorf("the copy has %s rows", rows[0])
			}
			there := list(t, conn, applied)
			for number := range len(released(t)) {
				if !slices.ContainsFunc(there, func(line string) bool { return strings.HasPrefix(line, fmt.Sprintf("%d ", number+1)) }) {
					t.Errorf("file %d is not in the history %q", number+1, there)
				}
			}
			if again := !slices.Equal(there, list(t, env.ClickHouse, applied)); again == c.copied {
				t.Errorf("the files were applied again is %v, want %v", again, !c.copied)
			}
		})
	}
}

// TestCopyTablesOfTablesThatAreThere changes nothing.
func TestCopyTablesOfTablesThatAreThere(t *testing.T) {
	env := testenv.New(t)
	name := beside(t, env, "_beside")
	exec(t, env, fmt.Sprintf("CREATE TABLE `%s`.records (x UInt8) ENGINE = MergeTree ORDER BY x", name))
	options := *env.ClickHouseOptions()
	options.Auth.Database = name
	conn := env.Open(&options)
	if err := migrations.CopyTables(t.Context(), conn, env.Database); err != nil {
		t.Fatal(err)
	}
	if got := definitions(t, conn); len(got) != 1 || !strings.Contains(got[0], "UInt8") {
		t.Errorf("the tables are %q", got)
	}
}
