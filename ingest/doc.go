// Package ingest turns the drafts of receivers into events on the log. It checks,
// normalises, scrubs, signs and appends each draft, in that order. It answers the
// caller only after the log has the events on disk.
//
// Each folder below it is a receiver (native, sentry, otlp, …). A receiver parses a
// wire protocol into a [Draft] and calls [Accepter]. It never scrubs, signs or
// writes. All events pass [Pipeline.Accept] before they reach the log, so the log
// never holds a secret.
//
// The package must not know ClickHouse, the projector or Gin.
package ingest
