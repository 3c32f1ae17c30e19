// Package failpoint marks the moments at which a crash must not matter. In a
// build with the tag "failpoints" the environment variable ERRATA_FAILPOINT
// picks one of them, and the process kills itself there; in every other build
// Reach is an empty function and costs nothing.
//
// The package must stay free of imports of ours: every package may mark its
// moments.
package failpoint

// The moments, in the order an event passes them.
const (
	Accepted  = "accepted"  // ingest has the drafts, the log does not
	Stored    = "stored"    // the log has the events on disk, the client has no answer
	Fetched   = "fetched"   // the projector read a fact
	Folded    = "folded"    // a batch is folded, nothing is written
	Payloads  = "payloads"  // payloads are inserted, records are not
	Inserted  = "inserted"  // records and checkpoint are inserted, the projector does not know
	Confirmed = "confirmed" // the projector knows, nobody else does
)

// Points are all moments.
var Points = []string{Accepted, Stored, Fetched, Folded, Payloads, Inserted, Confirmed}

// Variable is the environment variable that picks a moment: "folded@3" kills
// the process when it reaches the moment for the third time.
const Variable = "ERRATA_FAILPOINT"
