package api

import (
	"context"
	"net/netip"

	errata "github.com/errata-log/errata"
)

// LogSettings reads and changes the settings of what is recorded.
type LogSettings interface {
	// ReadLogging reads the settings in force, with every change that any node
	// has confirmed. Errors: log_unavailable.
	ReadLogging(ctx context.Context) (errata.Logging, error)
	// UpdateLogging stores what change makes of the settings in force, and
	// returns the new ones. change may be called more than once; its error is
	// returned as it is. Errors: log_unavailable, log_full.
	UpdateLogging(ctx context.Context, change func(errata.Logging) (errata.Logging, error)) (errata.Logging, error)
	// Logging is this node's copy of the settings, which it has without asking
	// the log. It must not block.
	Logging() errata.Logging
}

type loggingBody struct {
	ErrorLog        errata.Optional[bool]           `json:"error_log"`
	ErrorDebug      errata.Optional[bool]           `json:"error_debug"`
	Development     errata.Optional[bool]           `json:"development"`
	ModuleLog       errata.Optional[bool]           `json:"module_log"`
	QueryLogging    errata.Optional[bool]           `json:"query_logging"`
	QueryLoggingIPs errata.Optional[[]netip.Prefix] `json:"query_logging_ips"`
}

func (s *service) readLogSettings(c *call) (answer, error) {
	logging, err := s.LogSettings.ReadLogging(c.Request.Context())
	return reply(loggingOf(logging), err)
}

func (s *service) updateLogSettings(c *call, body loggingBody) (answer, error) {
	logging, err := s.LogSettings.UpdateLogging(c.Request.Context(), func(l errata.Logging) (errata.Logging, error) {
		return errata.Logging{
			ErrorLog: body.ErrorLog.Or(l.ErrorLog), ErrorDebug: body.ErrorDebug.Or(l.ErrorDebug),
			Development: body.Development.Or(l.Development), ModuleLog: body.ModuleLog.Or(l.ModuleLog),
			QueryLogging: body.QueryLogging.Or(l.QueryLogging), QueryLoggingIPs: body.QueryLoggingIPs.Or(l.QueryLoggingIPs),
		}, nil
	})
	return reply(loggingOf(logging), err)
}

// loggingJSON is Logging in answers: a single address has no prefix length
// there.
type loggingJSON struct {
	errata.Logging
	QueryLoggingIPs []string `json:"query_logging_ips"`
}

func loggingOf(l errata.Logging) loggingJSON {
	return loggingJSON{l, mapped(l.QueryLoggingIPs, func(p *netip.Prefix) string { return errata.PrefixText(*p) })}
}
