package settings

import (
	"context"
	"slices"

	errata "github.com/errata-log/errata"
)

func equalLogging(a, b errata.Logging) bool {
	same := slices.Equal(a.QueryLoggingIPs, b.QueryLoggingIPs)
	a.QueryLoggingIPs, b.QueryLoggingIPs = nil, nil
	return same && a.ErrorLog == b.ErrorLog && a.ErrorDebug == b.ErrorDebug && a.Development == b.Development &&
		a.ModuleLog == b.ModuleLog && a.QueryLogging == b.QueryLogging
}

// logging is the setting "logging".
var logging = setting[errata.Logging]{
	name:     "logging",
	standard: errata.StandardLogging(),
	in:       func(s *Snapshot) *errata.Logging { return &s.Logging },
	equal:    equalLogging,
}

// ReadLogging asks the log for the value in force, so that a change which any
// node has answered before is seen. Errors: log_unavailable.
func (s *Store) ReadLogging(ctx context.Context) (errata.Logging, error) {
	return read(ctx, s, logging)
}

// UpdateLogging sets what change makes of the value in force, and returns what
// is in force now; when that is the same, nothing is written. change is called
// again when another change came first. It must not write to the slice in its
// argument. Its error is returned as it is. Errors: log_full; log_unavailable
// when the change may or may not take effect.
func (s *Store) UpdateLogging(ctx context.Context, change func(errata.Logging) (errata.Logging, error)) (errata.Logging, error) {
	return update(ctx, s, logging, change)
}
