// Package logcare knows what of the log is gone, and what was decided about it.
//
// Facts go away when a disk flips a bit, when a file is lost, and when a backup
// is put back that is older than the records. What is gone becomes a fact of the
// log itself ([eventlog.Gap]): by the policy at first, which lets folding go on or
// holds it, and by an operator later. An alarm stands until somebody has
// decided, and every replay knows what it lacks.
package logcare
