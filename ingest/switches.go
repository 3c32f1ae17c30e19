package ingest

// Switches are what an administrator can switch while the service runs.
type Switches struct {
	// ErrorLog off: drafts are taken and dropped.
	ErrorLog bool
	// Development is told to senders that speak the native protocol.
	Development bool
}

// DefaultSwitches are those of a service where nobody has switched anything.
func DefaultSwitches() Switches { return Switches{ErrorLog: true} }

// switchedOff is the reason under which drafts are counted that were dropped
// because ErrorLog is off.
const switchedOff = "switched_off"
