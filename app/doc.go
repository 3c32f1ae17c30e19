// Package app is the service: the only place that knows all its parts, in
// what order they start, and that they stop in the reverse order.
//
//	engines ─▶ migrations ─▶ keys ─▶ appender ─▶ pipeline ─▶ receivers ┐
//	                                 projector ─▶ query ──────────▶ api ┴─▶ listener
//
// [New] builds the service and binds its address, [App.Run] serves until its context
// ends, [App.Stop] undoes the start within a time limit and loses no event that was
// answered with success. A test can run the real service on port 0.
//
// The package must not read the environment, flags or signals, must not write to
// standard output, and must not decide anything about events and records, which the
// other packages do.
package app
