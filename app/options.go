package app

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/ingest/otlp"
	"github.com/errata-log/errata/ingest/quota"
	"github.com/errata-log/errata/ingest/scrub"
	"github.com/errata-log/errata/logcare"
	"github.com/errata-log/errata/signin/familiar"
	"github.com/errata-log/errata/signin/smtp"
)

// Options is what the service can be told. The zero values of Data and Listen
// are not usable: begin with [DefaultOptions].
type Options struct {
	// Data is the folder for everything kept: log, records, first keys.
	Data string
	// Listen is the TCP address of the HTTP server, host:port.
	Listen string
	// OTLPListen is a second address that serves nothing but OTLP/HTTP, "" for
	// none; the usual port is 4318.
	OTLPListen string
	// OTLPSpanExceptions says what becomes of exceptions that spans recorded:
	// "dedupe" counts one once that comes as a log record too, "on" counts
	// both, "off" passes over them.
	OTLPSpanExceptions string
	// PublicURL is how applications and people reach the service, "" to make
	// it from the address that was bound.
	PublicURL string

	// NATSURL is an external NATS server, "" for the embedded one. Several
	// servers of one cluster are separated by commas.
	NATSURL string
	// NATSReplicas is on how many servers of an external cluster each stream
	// stands: 1 to 5, 0 means 1. Streams that have more keep them.
	NATSReplicas int
	// NATSListen is the address, host:port, at which applications reach the
	// embedded NATS to publish events, "" for none. NATSProject is the project of
	// all events that are published, to the embedded or an external one.
	NATSListen  string
	NATSProject uint64
	// NATSLeafListen is the address, host:port, at which ingest nodes reach the
	// embedded NATS, "" for none. NATSLeaf makes this one of them: the URL of the
	// hub, with user and password; there are no records here then.
	NATSLeafListen, NATSLeaf string
	// ClickHouseDSN is an external ClickHouse server, "" for the embedded one.
	ClickHouseDSN string
	// Namespace keeps several services on one NATS apart, "" for the only one.
	// On one ClickHouse, the database in the DSN does.
	Namespace string
	// EngineBinary is the program that runs the embedded ClickHouse and
	// LibCHDB the library it loads; "" to look in the usual places.
	EngineBinary, LibCHDB string

	// LogMaxBytes bounds the log; at the bound new events are refused. 0
	// takes 10 GiB, or less where the disk has no room for that.
	LogMaxBytes int64
	// LazySync answers senders before their events are on disk.
	LazySync bool
	// LogGaps says what becomes of facts of the log that are gone: "accept" goes
	// on behind them, "stop" shows nothing new until an operator has decided.
	LogGaps string

	// ModuleLogDays and QueryLogDays are how long entries of the module and
	// query logs are kept.
	ModuleLogDays, QueryLogDays int
	// LegacyDir holds the folders system and database for old error files, ""
	// for the folder legacy in Data. LegacyProject is the project that they
	// belong to.
	LegacyDir     string
	LegacyProject uint64

	// TrustedProxies are the peers whose forwarding headers are believed.
	TrustedProxies []netip.Prefix
	// InstallRoots are cut from the front of file names.
	InstallRoots []string
	// ScrubKeys and ScrubPatterns are added to the rules that take secrets out
	// of events; ScrubQueryAllow are the names in a query whose values are kept.
	// See [scrub.Additions].
	ScrubKeys, ScrubPatterns, ScrubQueryAllow []string
	// AdminRateLimit is the requests a minute of one admin key, 0 for no limit.
	AdminRateLimit int
	// KeyEventsPerMinute and ProjectEventsPerMinute are the events a minute that
	// one ingest key and all keys of one project together may send to this node,
	// 0 for no limit. A sixth of them may come at once.
	KeyEventsPerMinute, ProjectEventsPerMinute int
	// NewRecordsPerHour is how many new records a project may get in an hour, 0
	// for any number. Events that would make one more are counted in an overflow
	// record of their class. It is put on the log at the start, for all nodes.
	NewRecordsPerHour int

	// MailModule sends mails: "smtp", which SMTP is for, or "" for none.
	MailModule string
	SMTP       smtp.Config
	// GeoDatabase is a location database in MaxMind's format, "" to look in the
	// folder geo in Data.
	GeoDatabase string
	// SignInMemoryDays is how long a place or an address is familiar after the
	// last sign-in from there.
	SignInMemoryDays int

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
		Data:           "data",
		Listen:         "127.0.0.1:8080",
		AdminRateLimit: 600,
		LogGaps:        string(logcare.Accept),
		ModuleLogDays:  14,
		QueryLogDays:   7,
		LegacyProject:  1,
		NATSProject:    1,
		NATSReplicas:   1,

		KeyEventsPerMinute:     quota.DefaultKeyPerMinute,
		ProjectEventsPerMinute: quota.DefaultProjectPerMinute,
		NewRecordsPerHour:      defaultNewRecordsPerHour,

		OTLPSpanExceptions: string(otlp.Dedupe),
		ScrubQueryAllow:    scrub.DefaultQueryAllow(),

		SignInMemoryDays: familiar.DefaultDays,
	}
}

// Validate names the first option that cannot be used, by its setting's name.
func (o Options) Validate() error {
	if strings.TrimSpace(o.Data) == "" {
		return fmt.Errorf("data: want a folder, got none")
	}
	if _, port, err := net.SplitHostPort(o.Listen); err != nil || port == "" {
		return fmt.Errorf("listen: %q is not host:port, such as 127.0.0.1:8080 or :8080", o.Listen)
	}
	if err := o.validateOTLP(); err != nil {
		return err
	}
	if err := validURL(o.PublicURL, "http", "https"); err != nil {
		return fmt.Errorf("public-url: %w", err)
	}
	if err := validNATS(o.NATSURL); err != nil {
		return fmt.Errorf("nats-url: %w", err)
	}
	if err := validURL(o.ClickHouseDSN, "clickhouse", "tcp"); err != nil {
		return fmt.Errorf("clickhouse-dsn: %w", err)
	}
	if o.LogMaxBytes != 0 && o.LogMaxBytes < minLog {
		return fmt.Errorf("log-max-bytes: %d is too small, want at least %d", o.LogMaxBytes, minLog)
	}
	if _, err := logcare.ParsePolicy(o.LogGaps); err != nil {
		return fmt.Errorf("log-gaps: %w", err)
	}
	if err := o.validateLimits(); err != nil {
		return err
	}
	for name, days := range map[string]int{"module-log-days": o.ModuleLogDays, "query-log-days": o.QueryLogDays} {
		if days < 1 || days > maxLogDays {
			return fmt.Errorf("%s: %d is not from 1 to %d; the log itself is switched on and off while the service runs", name, days, maxLogDays)
		}
	}
	if o.SignInMemoryDays < 1 || o.SignInMemoryDays > familiar.MaxDays {
		return fmt.Errorf("signin-memory-days: %d is not from 1 to %d", o.SignInMemoryDays, familiar.MaxDays)
	}
	if o.LegacyProject == 0 {
		return fmt.Errorf("legacy-project: want the number of a project, from 1 up")
	}
	if err := o.validateNATS(); err != nil {
		return err
	}
	if _, err := o.mailSender(); err != nil {
		return err
	}
	for _, root := range o.InstallRoots {
		if strings.TrimSpace(root) == "" {
			return fmt.Errorf("install-roots: want paths, got an empty one")
		}
	}
	_, err := o.rules()
	return err
}

// minLog is one JetStream block file with room to rotate: below it the log
// would be full after the first burst.
const minLog = 16 << 20

// maxLogDays is ten years: what is kept longer is not a log.
const maxLogDays = 3650

// validNATS checks the addresses of a NATS server or cluster.
func validNATS(urls string) error {
	for item := range strings.SplitSeq(urls, ",") {
		// nats.go also takes host:port without a scheme.
		if strings.Contains(item, "://") {
			if err := validURL(item, "nats", "tls", "ws", "wss"); err != nil {
				return err
			}
		}
	}
	return nil
}

// validURL checks scheme and host of a URL that may be empty. The error never
// shows the text, since it may hold a password.
func validURL(text string, schemes ...string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return fmt.Errorf("not a URL; want %s://host", schemes[0])
	}
	if slices.Contains(schemes, u.Scheme) {
		return nil
	}
	return fmt.Errorf("scheme %q is not one of %s", u.Scheme, strings.Join(schemes, ", "))
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
