// Package feed tells listeners which records changed, as it happens.
//
//	projector's progress ─▶ one poller per node ─▶ what changed since ─▶ pending of each listener
//	                        while anybody listens     (log, ClickHouse)     taken when it can be sent
//
// The poller waits for an announcement that the projection moved on, asks how
// far, and reads what changed in between, at most four times a second. Each
// listener has a bounded set of changes that it has not taken yet: a slow one
// gets less detail and needs no more memory.
//
// The package must not know HTTP, NATS or ClickHouse: it is given functions, and
// reads commands with package eventlog.
package feed
