// Package api serves HTTP: it says which paths exist, who may use them, and
// what every answer looks like.
//
//	request ─▶ route table ─▶ admit (key, rate, scope) ─▶ handler ─▶ respond ─▶ envelope
//	        └▶ receivers, mounted as they are: no middleware on the way of an event
//
// A handler reads its parameters, makes one call through a small interface that
// is declared beside it, and returns a value or an error. Gin stays inside this
// package.
//
// The package must not decide anything about records or settings, and must not
// know ClickHouse or NATS: the packages behind the interfaces do.
package api
