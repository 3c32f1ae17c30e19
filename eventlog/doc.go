// Package eventlog is the log: one JetStream stream with one total order of
// facts, and the only way into it and out of it.
//
//	events ─▶ Appender ─ group commit       ─▶ ev.0    one block per message
//	command ▶ Commander ──────────────────────▶ cmd.*   one fact per message
//	                                              │
//	                                    stream, fsynced before the PubAck
//	                                              │
//	                                              ▼
//	                                 Reader: facts in order ─▶ projector
//
// Events are stored in blocks ([EncodeBlock], [DecodeBlock]), because an fsync
// costs per message and not per byte. An append returns only after the PubAck
// of every block that holds one of its events. Blocks of imported files are on
// ev.import.HASH, and each says where reading the file continues ([AppendImport]).
//
// The package must not know what a fact means: it neither folds nor decides,
// and it never touches ClickHouse.
package eventlog
