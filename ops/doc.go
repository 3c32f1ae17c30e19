// Package ops is what an operator asks of a running service: whether it is ready,
// what is wrong and what to do about it (checks, alarms), and how much it does
// (figures). It keeps the log within its room, makes the records again from the
// log, and imports old error files.
//
// It must not look for trouble in other packages: each of them has a check of its
// own, and raises an alarm when it finds something and clears it when that is
// mended.
package ops
