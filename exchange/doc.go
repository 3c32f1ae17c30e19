// Package exchange keeps two logs beside the errors: what applications
// exchanged with other systems (the module log) and what they asked their
// databases (the query log). Both are off until somebody switches them on,
// because they grow fast.
//
// An application posts entries to
//
//	POST /api/v1/logs/modules
//	POST /api/v1/logs/queries
//
// as one object, an array of objects, or objects line by line. A [Handler]
// checks, scrubs and bounds them and puts what is to be recorded on a stream of
// its own, one message for each request; the answer comes when that is on disk.
// A [Writer] takes the messages to ClickHouse, each exactly once, and then from
// the stream.
//
// What the applications sent is scrubbed before it reaches the stream: no
// secret and no literal of a query is ever stored. The package must not touch
// the events, their log or their records, and decides nothing about who may
// see the two logs.
package exchange
