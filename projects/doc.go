// Package projects says what a project is, and which ones there are. A project is one
// application; its number stands in keys, DSNs and events.
//
//	API, CLI ─▶ Service ─▶ Facts: project.<number> on the log ══▶ every node: Set
//	               └─────▶ Keys: a number that nobody had, an ingest key
//
// [Project], [Patch] and [Set] are pure: they check and change values. [Service] is the
// only part that calls others, through two small interfaces.
//
// The package must not know the log, HTTP, or what a limit or a noise rule does to an
// event: other packages ask for the value.
package projects
