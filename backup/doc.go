// Package backup copies the data folder of a running service into a folder, and
// restores such a folder into an empty data folder.
//
// The service sends the parts over a socket in its data folder, and the program that
// asked writes them: often only that program may write where backups are kept. NATS
// copies its streams, ClickHouse links the parts of its tables, and the files with
// secrets are read. What follows the log is copied before the log, so a restored
// service is as after a crash at the last fact of the log: nothing is ahead of the log,
// and what is behind it catches up.
//
// The package must not read what the streams and tables say.
package backup
