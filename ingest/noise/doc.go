// Package noise decides what the noise rules of a project do to an event.
//
//	rules of a project ─▶ Compile, once for each change ─▶ Rules.Decide, for each event
//
// A receiver asks before the event goes onto the log, which holds the outcome: the
// projector folds it and knows no rule. So a replay gives the same records after the
// rules have changed.
//
// The package is pure but for the memory of [Book]. It must not know a receiver, the log
// or HTTP.
package noise
