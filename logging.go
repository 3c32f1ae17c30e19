package errata

import (
	"net/netip"
	"slices"
)

// Logging says what is recorded, as administrators set it while the service runs.
type Logging struct {
	// ErrorLog off: events are accepted and dropped.
	ErrorLog bool `json:"error_log"`
	// ErrorDebug adds the cause to the API's own 5xx answers for admin keys.
	ErrorDebug bool `json:"error_debug"`
	// Development is told to those who send events.
	Development bool `json:"development"`
	// ModuleLog and QueryLogging record exchanges with modules and queries.
	ModuleLog    bool `json:"module_log"`
	QueryLogging bool `json:"query_logging"`
	// QueryLoggingIPs limits query logging to callers from there; empty: from
	// everywhere. IPv4 is written as such, an address as a prefix of its whole
	// length, and no prefix has bits behind its length. It is read only.
	QueryLoggingIPs []netip.Prefix `json:"query_logging_ips"`
}

// StandardLogging is in force until somebody sets it: errors are recorded and
// nothing else is.
func StandardLogging() Logging {
	return Logging{ErrorLog: true, QueryLoggingIPs: []netip.Prefix{}}
}

// QueryAllowed says whether queries for a caller at addr are to be recorded
// while QueryLogging is on. A caller whose address nobody knows, the zero
// Addr, is only recorded when callers from everywhere are.
func (l Logging) QueryAllowed(addr netip.Addr) bool {
	if len(l.QueryLoggingIPs) == 0 {
		return true
	}
	addr = addr.Unmap().WithZone("")
	return slices.ContainsFunc(l.QueryLoggingIPs, func(p netip.Prefix) bool { return p.Contains(addr) })
}
