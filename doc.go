// Package errata holds the types that every part of Errata shares: an [Event] as
// it stands on the log, the [Signature] that says which problem it belongs to,
// the [Record] that the projector folds the events of one problem into, and the
// kinds of error that a caller may see.
//
// The way of one error:
//
//	SDK ─▶ receiver ─▶ ingest ─▶ eventlog ══fsync══▶ JetStream stream LOG
//	       (a Draft)   gate            group commit         │ one total order
//	                   normalise                            ▼
//	   2xx ◀─ PubAck ◀ scrub                          projector: fold, one insert
//	                   sign                                 │ rows + checkpoint
//	                                                        ▼
//	                          api ◀── query ◀── ClickHouse table records
//
// The package does no I/O, reads no clock and imports nothing else of ours, so
// that every other package may import it.
package errata
