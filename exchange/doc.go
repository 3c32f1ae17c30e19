// Package exchange keeps two logs beside the errors: the module log, with the
// requests between an application and other systems, and the query log, with the
// queries of its databases. Both are off by default, because they grow fast.
//
// An application posts entries to
//
//	POST /api/v1/logs/modules
//	POST /api/v1/logs/queries
//
// as one object, an array of objects, or objects line by line. A [Handler]
// checks, scrubs and bounds the entries and puts them on a stream of their own,
// one message for each request. It answers when the message is on disk. A
// [Writer] inserts the messages into ClickHouse, each exactly once, and then
// purges them.
//
// An entry is scrubbed before it reaches the stream: no secret and no literal of a
// query is ever stored. The package must not touch the events, their log or their
// records, and does not decide who may see the two logs.
package exchange
