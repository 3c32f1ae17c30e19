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
	marks := r.DatabaseClasses
	if marks == nil {
		marks = defaultDatabaseClasses
	}
	return slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(class, mark) })
}
