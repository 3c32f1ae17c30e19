// Package engine brings up the two engines that Errata stands on and hands out
// one connection to each: NATS with JetStream, which holds the log, and
// ClickHouse, which holds the projection of it.
//
// Either is embedded or external, and nobody above this package can tell:
//
//	             embedded                            external
//	NATS         in this process, no port at all     Options.NATSURL
//	ClickHouse   a child process (cmd/errata-engine  Options.ClickHouseDSN
//	             with libchdb), one loopback port,
//	             watched, restarted
//
// The child never outlives this process, whatever ends it, and a crash in it
// cannot take this process down: it is started again on the same data and the
// connection that was handed out goes on working.
//
// The package knows the drivers, and what the servers keep in the data folder. It
// makes no stream and no table: that is what package migrations is for.
package engine
