// Package failpoint marks the moments at which a crash must lose nothing. In a build
// with the tag "failpoints" the environment variable ERRATA_FAILPOINT names one of
// them, and the process kills itself there. In every other build Reach is an empty
// function and costs nothing.
//
// The package must not import packages of ours, so that every package can import it.
package failpoint

// The moments, in the order an event passes them.
const (
	Accepted  = "accepted"  // ingest has the drafts, the log does not have them
	Stored    = "stored"    // the log has the events on disk, the client has no answer
	Fetched   = "fetched"   // the projector has read a fact
	Folded    = "folded"    // a batch is folded, nothing is written
	Fired     = "fired"     // what fires is inserted, what counts for it is not
	Payloads  = "payloads"  // payloads are inserted, records are not
	Inserted  = "inserted"  // records and checkpoint are inserted, the projector does not know it
	Confirmed = "confirmed" // only the projector knows that they are inserted
)

// Points are all moments.
var Points = []string{Accepted, Stored, Fetched, Folded, Fired, Payloads, Inserted, Confirmed}

// Variable is the environment variable that names a moment: "folded@3" kills the
// process when it reaches the moment for the third time.
const Variable = "ERRATA_FAILPOINT"
