// Package logcare knows what of the log is gone, and what was decided about it.
//
// Facts go away when a disk flips a bit, when a file is lost, and when a backup
// is put back that is older than the records. What is gone becomes a fact of the
// log itself ([eventlog.Gap]): by the policy at first, which lets folding go on or
// holds it, and by an operator later. An alarm stands until somebody has
// decided, and every replay knows what it lacks. A log that is stopped is checked
// and mended by [Stopped].
//
// It must not change a record, and decides nothing that an operator has to: what
// to do about a gap is the policy's and theirs.
package logcare
