// Package audit is the audit trail: who changed what, when, and what came of
// it, each entry sealed with the hash of the one before.
//
//	commands, settings ─▶ LOG stream ──┐
//	                                   ├─▶ Auditor ─ compare-and-set ─▶ AUDIT stream ─▶ Trail
//	API keys ───────────▶ keys bucket ─┘      ▲                          n, prev, hash
//	                                          └ the projector's answers
//
// A change does not write its own entry, so that no crash can come between the
// two. The auditor derives the entries from changes that are durable already,
// and every entry says how far both sources have been read. An auditor that
// starts, on any node, goes on from the last entry. It appends by a
// compare-and-set on the number of the entry, so that each change has exactly
// one entry, however many auditors run.
//
// The package must not know who may change what, and must never hold a change
// back: a trail that cannot be written is late.
package audit
