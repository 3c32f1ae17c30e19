// Package migrations brings the stores to the shape that the rest of Errata
// expects: the ClickHouse tables by numbered files that are applied in order,
// the stream of the log and its buckets by their configuration. Two things
// about the table records no file can do, and follow the files; see afterFiles.
//
// A file that has been applied anywhere never changes again. The SHA-256 of
// every applied file is kept in the table schema_migrations, and a file that
// has changed since, or is gone, is refused by name before anything is done.
//
// The package knows the drivers and nothing else of ours. It is run once at
// start; nothing else may create or alter a table, a stream or a bucket.
package migrations
