package errata

import (
	"net/netip"
	"slices"
)

// Logging says what is recorded. Administrators set it while the service runs.
type Logging struct {
	// ErrorLog records events. When it is off, they are accepted and dropped.
	ErrorLog bool `json:"error_log"`
	// ErrorDebug adds the cause to the API's own 5xx answers for admin keys.
	ErrorDebug bool `json:"error_debug"`
	// Development stands in the answers to senders of events.
	Development bool `json:"development"`
	// ModuleLog and QueryLogging switch the module log and the query log on.
	ModuleLog    bool `json:"module_log"`
	QueryLogging bool `json:"query_logging"`
	// QueryLoggingIPs limits query logging to callers with these addresses; empty
	// means all callers. The prefixes are in the form of [ParsePrefix]. Nothing
	// may change the slice.
	QueryLoggingIPs []netip.Prefix `json:"query_logging_ips"`
}

// StandardLogging is in force until somebody changes it. It records only errors.
func StandardLogging() Logging {
	return Logging{ErrorLog: true, QueryLoggingIPs: []netip.Prefix{}}
}

// QueryAllowed says whether the queries for a caller at addr are recorded while
// QueryLogging is on. The zero Addr, an unknown address, is recorded only when the
// addresses are not limited.
func (l Logging) QueryAllowed(addr netip.Addr) bool {
	if len(l.QueryLoggingIPs) == 0 {
		return true
	}
	addr = addr.Unmap().WithZone("")
	return slices.ContainsFunc(l.QueryLoggingIPs, func(p netip.Prefix) bool { return p.Contains(addr) })
}
