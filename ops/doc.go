// Package ops is what an operator asks of a running service. So far it keeps
// the alarms: what is wrong with the data, and what to do about it.
//
// It must not look for trouble itself: the packages that find something raise
// an alarm, and clear it when it is mended.
package ops
