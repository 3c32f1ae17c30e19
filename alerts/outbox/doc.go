// Package outbox makes messages of firings and sees that each arrives.
//
// Firings stand in a table, in the order of the log. For each rule the outbox notes in a
// bucket of NATS up to which firing it has made messages, at most one a minute, together
// with the newest message: a compare-and-swap, so that of several nodes one makes it. A
// message becomes a delivery for each channel, which is tried until it arrives, for a day. Its
// id is that of its first firing: a receiver that gets a message twice, because a node died
// between sending and noting it, can tell.
//
// The package must not decide what fires, nor how a message looks.
package outbox
