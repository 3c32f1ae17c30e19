// Package ingest turns what receivers understood into facts on the log:
// gate, normalise, scrub, sign, append, in that order. The caller is answered
// only after the log has the events on disk.
//
// One folder per way in stands below it (native, sentry, otlp, …). A receiver
// parses a wire protocol into a [Draft] and calls [Accepter]; it never scrubs,
// signs or writes. Nothing that has not passed [Pipeline.Accept] reaches the
// log, so the log never holds a secret.
//
// The package must not know ClickHouse, the projector or Gin.
package ingest
