package ingest

import (
	"slices"
	"strings"

	errata "github.com/errata-log/errata"
)

// defaultDatabaseClasses are parts of the names of classes and modules of errors that
// a database or its driver raised, in PHP, Go, Python, Java, JavaScript, Ruby and
// .NET.
var defaultDatabaseClasses = []string{
	"PDOException", "QueryException", `Doctrine\DBAL\`, "mysqli_sql_exception", "SQLite3Exception", `MongoDB\Driver\`,
	"pgconn.", "pq.Error", "mysql.MySQLError", "sqlite.Error", "*proto.Exception",
	"sqlite3.", "psycopg2.", "psycopg.", "asyncpg.exceptions.", "django.db.utils.", "sqlalchemy.exc.", "pymysql.err.", "MySQLdb.", "mysql.connector.",
	"pyodbc.", "oracledb.", "peewee.", "pymongo.errors.",
	"java.sql.", "SQLException", "org.postgresql.", "com.mysql.", "org.mariadb.jdbc.", "SQLServerException", "org.hibernate.", "org.springframework.dao.",
	"org.springframework.jdbc.", "org.jooq.exception.",
	"Sequelize", "QueryFailedError", "PrismaClient", "PostgresError", "SqliteError", "DrizzleQueryError", "MongoServerError", "MongoNetworkError",
	"ActiveRecord::", "PG::", "Mysql2::", "SQLite3::",
	"System.Data.SqlClient.", "Microsoft.Data.Sqlite.", "MySqlConnector.", "Npgsql.",
}

// sqlStateMark begins the message of a database error of PDO and others.
const sqlStateMark = "SQLSTATE["

// bookOf is the book that the client chose, else the one that the draft's classes,
// modules and messages show.
func (r *Rules) bookOf(d *Draft) errata.Book {
	if d.Book == errata.BookSystem || d.Book == errata.BookDatabase {
		return d.Book
	}
	if strings.Contains(d.Message, sqlStateMark) || r.isDatabaseClass(d.Class) {
		return errata.BookDatabase
	}
	chain := d.Context.Exceptions
	for i := range chain[:min(len(chain), MaxExceptions)] {
		x := &chain[i]
		if r.isDatabaseClass(x.Class) || (x.Module != "" && r.isDatabaseClass(x.Module+"."+x.Class)) || strings.Contains(x.Message, sqlStateMark) {
			return errata.BookDatabase
		}
	}
	return errata.BookSystem
}

func (r *Rules) isDatabaseClass(class string) bool {
	if class == "" {
		return false
	}
	if r.DatabaseClasses == nil {
		return holdsDefaultMark(class)
	}
	return slices.ContainsFunc(r.DatabaseClasses, func(mark string) bool { return strings.Contains(class, mark) })
}

// holdsDefaultMark says whether one of defaultDatabaseClasses stands anywhere in the class.
// It looks for their first two bytes in one pass: in most classes no mark begins.
func holdsDefaultMark(class string) bool {
	for i := 0; i+1 < len(class); i++ {
		at := markBits(class[i], class[i+1])
		if markBegins[at>>6]&(1<<(at&63)) != 0 &&
			slices.ContainsFunc(defaultDatabaseClasses, func(mark string) bool { return strings.HasPrefix(class[i:], mark) }) {
			return true
		}
	}
	return false
}

// markBegins has a bit for the first two bytes of each of defaultDatabaseClasses. Other
// bytes can share a bit.
var markBegins = func() (bits [64]uint64) {
	for _, mark := range defaultDatabaseClasses {
		at := markBits(mark[0], mark[1])
		bits[at>>6] |= 1 << (at & 63)
	}
	return bits
}()

func markBits(a, b byte) uint16 { return uint16(a&63)<<6 | uint16(b&63) }
