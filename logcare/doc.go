// Package logcare finds gaps of the log and keeps what was decided about them.
//
// Facts are lost when a disk flips a bit, when a file is lost, and when a backup is
// restored that is older than the records. Each gap becomes a fact of the log
// itself ([eventlog.Gap]): first by the policy, which lets folding continue or
// stops it, and later by the decision of an operator. An alarm lasts until an
// operator has decided, and every replay knows what the log lacks. [Stopped] checks
// and mends the log while the service is stopped.
//
// It must not change a record, and must not decide in the place of an operator.
package logcare
