// Package migrations makes the tables, streams and buckets that the rest of Errata
// needs, or changes older ones: the ClickHouse tables by numbered files that are
// applied in order, streams and buckets by their configuration. Two changes of the
// table records are no files, and come after them; see afterFiles.
//
// A file that was applied anywhere never changes again. The table schema_migrations
// keeps the SHA-256 of every applied file. When a file has changed since, or is
// missing, the start fails with its name before anything is done.
//
// The package knows the drivers and nothing else of ours. It runs once at the
// start; nothing else may create or alter a table, a stream or a bucket.
package migrations
