// Package engine starts the two engines of Errata and hands out one connection to
// each: NATS with JetStream, which holds the log, and ClickHouse, which holds the
// projection.
//
// Each is embedded or external, which makes no difference to the other packages:
//
//	             embedded                            external
//	NATS         in this process, no port at all     Options.NATSURL
//	ClickHouse   a child process (cmd/errata-engine  Options.ClickHouseDSN
//	             with libchdb), one loopback port,
//	             watched, restarted
//
// The child never outlives this process, however the process ends. A crash of the
// child does not end this process: the child is started again on the same data, and
// the connection that was handed out goes on working.
//
// The package knows the drivers, and the files of the servers in the data folder. It
// must not make a stream or a table, which package migrations does.
package engine
