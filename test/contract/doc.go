// Package contract walks the contract of the error log endpoints, row by row,
// against the running service on its real engines: every filter, order and
// limit of the list compared with a model of thousands of records, every error
// code, and every command followed at once by the read that must show it.
//
// It knows the service by its HTTP interface alone and waits for nothing: a
// test that asks twice would not see that an answer came too early. How an
// event gets from a socket to a record is test/flow's.
package contract
