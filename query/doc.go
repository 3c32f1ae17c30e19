// Package query reads the projection: lists of records by filter, order and
// page, and one record with the context of its first sighting.
//
//	url.Values ──Parse──▶ Filter, Page ──plan──▶ statement (SQL text + arguments)
//	                                                  │ native protocol
//	                List ◀── rows of the page ◀── keys of the page ◀── ClickHouse
//
// A record is one live row of table records, but the table also holds the rows
// that cancel each other until a merge removes them. So every total is
// sum(sign), and a page is found in two steps: narrow first, the keys of the
// page from few columns; whole after, the records of those keys alone, each
// from one column (internal/packed).
//
// Values reach ClickHouse only as bound parameters of the native protocol. The
// text of a statement is put together from the files in sql/ and says which
// filters are set, never to what.
//
// The package only reads. It holds no state but its connection, logs nothing,
// and knows neither HTTP nor the log.
package query
