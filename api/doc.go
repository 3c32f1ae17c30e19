// Package api is the HTTP edge: which paths exist, who may use them, and what
// every answer looks like.
//
//	request ─▶ route table ─▶ admit (key, rate, scope) ─▶ handler ─▶ respond ─▶ envelope
//	        └▶ receivers, mounted as they are: no middleware on the way of an event
//
// Handlers bind, make one call through a small interface declared beside them,
// and return a value or an error; [New] knows nothing of ClickHouse or NATS.
// Gin stays inside this package.
//
// The package must not decide anything about errors, records or settings: that
// is the work of what stands behind the interfaces.
package api
