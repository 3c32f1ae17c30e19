// Package audit is the audit trail: who changed what, when, and what came of
// it, each entry sealed with the hash of the one before.
//
//	commands, settings ─▶ LOG stream ──┐
//	                                   ├─▶ Auditor ─ compare-and-set ─▶ AUDIT stream ─▶ Trail
//	API keys ───────────▶ keys bucket ─┘      ▲                          n, prev, hash
//	                                          └ the projector's answers
//
// The change is the fact. Nobody writes an entry beside a change, so no crash
// can come between the two: the auditor derives entries from what is durable
// already, and every entry says how far both sources have been read. Whoever
// starts, on whichever node, goes on from the last entry; appending is a
// compare-and-set on its number, so that each change has exactly one entry
// however many auditors there are.
//
// The package must not know who may change what, and must never keep anybody
// from changing it: when the trail cannot be written, it is late.
package audit
