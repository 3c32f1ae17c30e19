package ingest

// switchedOff is the reason under which drafts are counted that were dropped
// because ErrorLog is off.
const switchedOff = "switched_off"

// Headers of the doors' answers.
const (
	// HeaderRecorded tells how many events of the request are on the log. The
	// native door always sends it with a 2xx; the others when events were
	// dropped, because their clients know only their protocol.
	HeaderRecorded = "X-Errata-Recorded"
	// HeaderDevelopment is "1" in native answers while Development is on.
	HeaderDevelopment = "X-Errata-Development"
)
