// Package app is the service: the only place that knows all its parts, in
// what order they start, and that they stop in the reverse order.
//
//	engines ─▶ migrations ─▶ keys ─▶ appender ─▶ pipeline ─▶ receivers ┐
//	                                 projector ─▶ query ──────────▶ api ┴─▶ listener
//
// [New] wires and binds, [App.Run] serves until its context ends, [App.Stop]
// undoes all of it within a time limit and loses nothing that was answered
// with success. Types that fit one package to another stand in files of their
// own. A test can run the real thing on port 0.
//
// The package must not read the environment, flags or signals, must not write
// to standard output, and must not decide anything about errors: that is the
// work of the packages it joins.
package app
