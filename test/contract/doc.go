// Package contract tests the contract of the error log endpoints, row by row,
// against the running service on its real engines: it compares every filter,
// order and limit of the list with a model of thousands of records, checks every
// error code, and reads at once after every command, which must be visible.
//
// It knows only the HTTP interface of the service, and waits for nothing: a test
// that asks twice would not notice an answer that came too early. How an event
// gets from a socket to a record is tested in test/flow.
package contract
