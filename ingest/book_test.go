package ingest_test

import (
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
)

// The classes are as drivers and ORMs name them: with the module in a field of its own, as
// the SDKs of Sentry send it, and in one name.
func TestErrorsOfDatabasesGoIntoTheirBook(t *testing.T) {
	var rules ingest.Rules
	f := func(module, class string, want errata.Book) {
		t.Helper()
		d := ingest.Draft{Class: class, Message: "m", Context: ingest.Context{Exceptions: []ingest.Exception{{Class: class, Module: module, Message: "m"}}}}
		e, refused := rules.Event(&d, ingest.Source{Project: 7}, errata.EventID{1})
		if refused != nil || e.Book != want {
			t.Errorf("%s %s: %s, %v; want %s", module, class, e.Book, refused, want)
		}
	}
	for _, x := range [][2]string{
		{"sqlite3", "OperationalError"}, {"", "sqlite3.IntegrityError"}, {"psycopg.errors", "UndefinedTable"}, {"psycopg", "OperationalError"},
		{"psycopg2.errors", "UniqueViolation"}, {"asyncpg.exceptions", "UndefinedTableError"}, {"MySQLdb", "OperationalError"},
		{"sqlalchemy.exc", "IntegrityError"}, {"django.db.utils", "ProgrammingError"},
		{"org.postgresql.util", "PSQLException"}, {"", "PSQLException"}, {"", "org.postgresql.util.PSQLException"}, {"java.sql", "SQLTimeoutException"},
		{"com.microsoft.sqlserver.jdbc", "SQLServerException"}, {"org.springframework.jdbc", "BadSqlGrammarException"},
		{"", "QueryFailedError"}, {"", "SequelizeUniqueConstraintError"}, {"", "PostgresError"}, {"", "SqliteError"},
		{"", "*pgconn.ConnectError"}, {"", "*sqlite.Error"}, {"", "SQLite3::BusyException"}, {"Microsoft.Data.Sqlite", "SqliteException"},
		{"", `Illuminate\Database\QueryException`},
	} {
		f(x[0], x[1], errata.BookDatabase)
	}
	for _, x := range [][2]string{
		{"", "OrderError"}, {"builtins", "OperationalError"}, {"shop.psycopgs", "Error"}, {"", "SQLiteless"}, {"", `Illuminate\Database\Eloquent\ModelNotFoundException`},
	} {
		f(x[0], x[1], errata.BookSystem)
	}
}
