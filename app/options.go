package app

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/certs"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/ingest/otlp"
	"github.com/errata-log/errata/ingest/quota"
	"github.com/errata-log/errata/ingest/scrub"
	"github.com/errata-log/errata/logcare"
	"github.com/errata-log/errata/settings"
	"github.com/errata-log/errata/signin/familiar"
	"github.com/errata-log/errata/signin/smtp"
)

// Options is what the service can be told. The zero values of Data and Listen
// are not usable: begin with [DefaultOptions].
type Options struct {
	engine.Options

	// Data is the folder for everything kept: log, records, first keys.
	Data string
	// Listen is the TCP address of the HTTP server, host:port.
	Listen string
	// OTLPListen is a second address that serves nothing but OTLP/HTTP, "" for
	// none; the usual port is 4318.
	OTLPListen string
	// OTLPSpanExceptions says what happens to exceptions in spans: "dedupe" counts
	// an exception once that also comes as a log record, "on" counts both, "off"
	// ignores those in spans.
	OTLPSpanExceptions string
	// PublicURL is the URL of the service for applications and people, "" to make
	// it from the address that was bound.
	PublicURL string

	// TLS names the certificate that the addresses above show. Without one they speak HTTP.
	TLS certs.Options

	// NATSProject is the project of all events that are published to NATS.
	NATSProject uint64
	// Namespace keeps several services on one NATS apart, "" for the only one.
	// Services on one ClickHouse have different databases in their DSNs.
	Namespace string
	// LogGaps says what the projector does at a gap of the log: "accept" goes on
	// behind it, "stop" shows nothing new until an operator has decided.
	LogGaps string

	// ModuleLogDays and QueryLogDays are how long entries of the module and
	// query logs are kept.
	ModuleLogDays, QueryLogDays int
	// LegacyDir holds the folders system and database for old error files, ""
	// for the folder legacy in Data. LegacyProject is the project that they
	// belong to.
	LegacyDir     string
	LegacyProject uint64

	// TrustedProxies are the proxies whose forwarding headers are believed.
	TrustedProxies []netip.Prefix
	// InstallRoots are cut from the front of file names.
	InstallRoots []string
	// Scrub is added to the rules that take secrets out of events.
	Scrub scrub.Additions
	// AdminRateLimit is the requests a minute of one admin key, 0 for no limit.
	AdminRateLimit int
	// KeyEventsPerMinute and ProjectEventsPerMinute are the events a minute that
	// one ingest key and all keys of one project together may send to this node,
	// 0 for no limit. A sixth of them may come at once.
	KeyEventsPerMinute, ProjectEventsPerMinute int
	// NewRecordsPerHour is how many new records a project may get in an hour, 0
	// for any number. Beyond it, new problems are counted in one overflow record for
	// each class. The start puts the number on the log, for all nodes.
	NewRecordsPerHour int

	// AlertAllowHosts are the hosts that messages of alerts may go to although their
	// address is private, or without TLS: names or addresses, with or without a port.
	AlertAllowHosts []string
	// MailModule sends mails: "smtp", which reads SMTP, or "" for none.
	MailModule string
	SMTP       smtp.Config
	// GeoDatabase is a location database in MaxMind's format, "" to look in the
	// folder geo in Data.
	GeoDatabase string
	// SignInMemoryDays is how long a place or an address is familiar after the
	// last sign-in from there.
	SignInMemoryDays int

	// ClickHouseMemory is what the embedded ClickHouse may take, in bytes; 0 means 2 GiB.
	ClickHouseMemory int64

	// Version is what the service calls itself, "" for "dev".
	Version string
	// Logger gets the service's own log, nil for none.
	Logger *slog.Logger
	// Registry gets the metrics, nil for a new one. A registry serves one App.
	Registry *prometheus.Registry
	// Now is the clock, nil for the system's.
	Now func() time.Time
}

// DefaultOptions keeps everything in ./data and serves on loopback only.
func DefaultOptions() Options {
	return Options{
		Options:        engine.Options{NATSReplicas: 1, Cluster: engine.Cluster{Ack: engine.AckSpool}},
		Data:           "data",
		Listen:         "127.0.0.1:8080",
		TLS:            certs.Options{Directory: certs.DefaultDirectory},
		AdminRateLimit: 600,
		LogGaps:        string(logcare.Accept),
		ModuleLogDays:  14,
		QueryLogDays:   7,
		LegacyProject:  1,
		NATSProject:    1,

		KeyEventsPerMinute:     quota.DefaultKeyPerMinute,
		ProjectEventsPerMinute: quota.DefaultProjectPerMinute,
		NewRecordsPerHour:      settings.DefaultNewRecordsPerHour,

		OTLPSpanExceptions: string(otlp.Dedupe),
		Scrub:              scrub.Additions{QueryAllow: scrub.DefaultQueryAllow()},

		SignInMemoryDays: familiar.DefaultDays,
	}
}

// withDefaults fills in what was left to the service.
func (o Options) withDefaults() Options {
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Registry == nil {
		o.Registry = prometheus.NewRegistry()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}
