// Package query reads the projection: lists of records by filter, order and
// page, and one record with the context of its first sighting.
//
//	url.Values ──Parse──▶ Filter, Page ──plan──▶ statement (SQL text + arguments)
//	                                                  │ native protocol
//	                List ◀── rows of the page ◀── keys of the page ◀── ClickHouse
//
// A record is one live row of the table records. The table also holds rows that
// cancel each other, until a merge removes them. So a total is sum(sign), and a
// page takes two steps: the first reads few columns and finds the keys of the
// page, the second reads the records of these keys, each from one column
// (internal/packed). one_scan.sql takes both steps in one statement.
//
// A filter of environments or releases is about occurrences: scope.go finds the page
// in the table deployments, and its numbers are sums of rows there.
//
// Values reach ClickHouse only as bound parameters of the native protocol. The
// text of a statement comes from the files in sql/. It depends on which filters
// are set, never on their values.
//
// The package only reads. It holds no state but its connection, logs nothing,
// and knows neither HTTP nor the log.
package query
