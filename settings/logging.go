package settings

import (
	"context"
	"net/netip"
	"slices"
)

// Logging says what is recorded.
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

func equalLogging(a, b Logging) bool {
	same := slices.Equal(a.QueryLoggingIPs, b.QueryLoggingIPs)
	a.QueryLoggingIPs, b.QueryLoggingIPs = nil, nil
	return same && a.ErrorLog == b.ErrorLog && a.ErrorDebug == b.ErrorDebug && a.Development == b.Development &&
		a.ModuleLog == b.ModuleLog && a.QueryLogging == b.QueryLogging
}

// logging is the setting "logging". Until somebody sets it, errors are
// recorded and nothing else is.
var logging = setting[Logging]{
	name:     "logging",
	standard: Logging{ErrorLog: true, QueryLoggingIPs: []netip.Prefix{}},
	in:       func(s *Snapshot) *Logging { return &s.Logging },
	equal:    equalLogging,
}

// ReadLogging asks the log for the value in force, so that a change which any
// node has answered before is seen. Errors: log_unavailable.
func (s *Store) ReadLogging(ctx context.Context) (Logging, error) {
	return read(ctx, s, logging)
}

// UpdateLogging sets what change makes of the value in force, and returns what
// is in force now; when that is the same, nothing is written. change is called
// again when somebody else was faster, must not write to the slice in what it
// is given, and its error is returned as it is. Errors: log_full;
// log_unavailable when the change may or may not take effect.
func (s *Store) UpdateLogging(ctx context.Context, change func(Logging) (Logging, error)) (Logging, error) {
	return update(ctx, s, logging, change)
}
