package api

import (
	"context"
	"net/netip"

	errata "github.com/errata-log/errata"
)

// LogSettings keeps what is recorded.
type LogSettings interface {
	// ReadLogging is what is in force, with every change that any node has
	// answered. Errors: log_unavailable.
	ReadLogging(ctx context.Context) (errata.Logging, error)
	// UpdateLogging sets what change makes of that and returns what is then in
	// force; change may be called more than once, and its error is returned as
	// it is. Errors: log_unavailable, log_full.
	UpdateLogging(ctx context.Context, change func(errata.Logging) (errata.Logging, error)) (errata.Logging, error)
	// Logging is what is in force as far as this node has heard. It must not
	// block.
	Logging() errata.Logging
}

// loggingBody is the body of B7.
type loggingBody struct {
	ErrorLog        errata.Optional[bool]           `json:"error_log"`
	ErrorDebug      errata.Optional[bool]           `json:"error_debug"`
	Development     errata.Optional[bool]           `json:"development"`
	ModuleLog       errata.Optional[bool]           `json:"module_log"`
	QueryLogging    errata.Optional[bool]           `json:"query_logging"`
	QueryLoggingIPs errata.Optional[[]netip.Prefix] `json:"query_logging_ips"`
}

// readLogSettings is B6.
func (s *service) readLogSettings(c *call) (answer, error) {
	logging, err := s.LogSettings.ReadLogging(c.Request.Context())
	return told(loggingOf(logging), err)
}

// updateLogSettings is B7. Everything is checked before anything is changed.
func (s *service) updateLogSettings(c *call, body loggingBody) (answer, error) {
	logging, err := s.LogSettings.UpdateLogging(c.Request.Context(), func(l errata.Logging) (errata.Logging, error) {
		return errata.Logging{
			ErrorLog: body.ErrorLog.Or(l.ErrorLog), ErrorDebug: body.ErrorDebug.Or(l.ErrorDebug),
			Development: body.Development.Or(l.Development), ModuleLog: body.ModuleLog.Or(l.ModuleLog),
			QueryLogging: body.QueryLogging.Or(l.QueryLogging), QueryLoggingIPs: body.QueryLoggingIPs.Or(l.QueryLoggingIPs),
		}, nil
	})
	return told(loggingOf(logging), err)
}

// loggingJSON is Logging in answers: an address has no length there.
type loggingJSON struct {
	errata.Logging
	QueryLoggingIPs []string `json:"query_logging_ips"`
}

func loggingOf(l errata.Logging) loggingJSON {
	ips := make([]string, 0, len(l.QueryLoggingIPs))
	for _, p := range l.QueryLoggingIPs {
		ips = append(ips, errata.PrefixText(p))
	}
	return loggingJSON{l, ips}
}
