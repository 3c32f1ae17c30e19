package api

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/errata-log/errata/agents"
	"github.com/errata-log/errata/api/openapi"
	"github.com/errata-log/errata/origin"
)

// Default rates, for the code that reads the configuration. New cannot fill
// them in: a rate of 0 in Config means no limit.
const (
	// DefaultKeyRate is how many requests a minute one key may make.
	DefaultKeyRate = 600
	// DefaultFailedAuthRate is how many requests a minute one address may make
	// without a working key before it is told to wait.
	DefaultFailedAuthRate = 10
)

// Config is what the API needs. An interface is required unless its comment
// says what nil means.
type Config struct {
	// Version is what the service calls itself, "" for "dev".
	Version string
	// PublicURL is how applications reach the service, for the DSN of new
	// keys; "" to use the address that the administrator used.
	PublicURL string

	Keys Keys
	// Projects are the applications that send events.
	Projects Projects
	Records  Records
	// Occurrences reads the single events behind records.
	Occurrences Occurrences
	Changes     Changes
	Health      Health
	// Positions says how far the records are; nil for an ingest node.
	Positions Positions
	// Insights reads many records at once.
	Insights Insights
	// LogSettings is what is recorded.
	LogSettings LogSettings
	// Security has the settings of sign-in.
	Security SecuritySettings
	// Challenges sends and checks codes.
	Challenges Challenges
	// SignIn decides about sign-ins.
	SignIn SignIn
	// Alerts are who is told of what, and Deliveries what was sent of it.
	Alerts     Alerts
	Deliveries Deliveries
	// Requests stores the answers to requests with an Idempotency-Key.
	Requests Requests
	// Audit is the audit trail; nil: there is none.
	Audit Audit
	// Eraser removes persons from the records.
	Eraser Eraser
	// Replayer rebuilds the projection.
	Replayer Replayer
	// LogCare knows the gaps of the log.
	LogCare LogCare
	// Nodes are those of the cluster.
	Nodes Nodes
	// Importer imports old error files; nil: its routes answer 501.
	Importer Importer
	// Letters are the dead letters; nil: no events come in over NATS.
	Letters Letters
	// Leaf makes this the API of an ingest node, with health and metrics only.
	// It needs Keys and Health.
	Leaf bool
	// Metrics answers GET /metrics; nil: the path does not exist.
	Metrics http.Handler
	// Feed tells what changes in the records; nil: the stream answers 501.
	Feed Feed
	// Web is the page for people; nil: browsers get what programs get.
	Web Web
	// PolicyReports counts the breaches of the page's policy that browsers
	// report; nil: they are not counted.
	PolicyReports interface{ Add(n float64) }
	// Receivers take events. Those that are nil do not exist.
	Receivers Receivers

	// TrustedProxies are the peers whose forwarding headers are believed.
	TrustedProxies []netip.Prefix
	// KeyRate bounds the requests a minute of one key on the API, 0 for no limit.
	KeyRate int
	// FailedAuthRate bounds the requests a minute of one address that come
	// without a working key, 0 for no limit.
	FailedAuthRate int

	// Logger gets one line per request and the causes of 5xx; nil for none.
	Logger *slog.Logger
	// Now is the clock, nil for the system's.
	Now func() time.Time
	// Random makes request ids and is read by many goroutines at once; nil for
	// the system's.
	Random io.Reader
}

// service is the API at work.
type service struct {
	Config
	keyLimits    *limiter[string]
	failedLimits *limiter[netip.Prefix]
	reportLimits *limiter[netip.Prefix]
	streams      streams
	files        openapi.Files
	agents       *agents.Handler
	methods      map[string][]string // of each path of the table
	// warnedForwarded is set once the operator was told about forwarding
	// headers from a peer that is not trusted.
	warnedForwarded atomic.Bool
}

// New makes the handler of all routes. The error names the wrong field.
func New(cfg Config) (http.Handler, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	files, err := openapi.New()
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	queries, err := openapi.Queries()
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	s := &service{
		Config:       cfg,
		files:        files,
		keyLimits:    newLimiter[string](cfg.KeyRate, cfg.Now),
		failedLimits: newLimiter[netip.Prefix](cfg.FailedAuthRate, cfg.Now),
		reportLimits: newLimiter[netip.Prefix](policyReportRate, cfg.Now),
	}
	gin.SetMode(gin.ReleaseMode) // debug mode prints to standard output
	engine := gin.New()
	// A redirect would make an SDK's POST a GET, or lose it.
	engine.RedirectTrailingSlash = false
	engine.RedirectFixedPath = false
	engine.HandleMethodNotAllowed = true
	engine.ForwardedByClientIP = false // package origin says who calls, Gin does not
	s.agents = agents.NewHandler(cfg.Version, engine, cfg.Logger)
	s.mountReceivers(engine)
	routes := s.served()
	if err := withQueries(routes, queries); err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	for _, r := range routes {
		engine.Handle(r.Method, r.Path, s.serve(r))
		if r.Method == http.MethodGet {
			engine.Handle(http.MethodHead, r.Path, s.serve(r))
		}
	}
	s.methods = methodsOf(routes)
	for path, methods := range overshadowed(s.methods) {
		engine.Match(methods, path, s.serve(s.noMethod()))
	}
	engine.NoRoute(s.serve(s.unknownPath()))
	engine.NoMethod(s.serve(s.noMethod()))
	return engine, nil
}

// check fills the defaults and finds what is missing.
func (c *Config) check() error {
	if c.Keys == nil {
		return errors.New("Keys is missing")
	}
	if !c.Leaf || c.Health == nil { // records and settings of an ingest node are at its hub
		for _, required := range []struct {
			field   string
			missing bool
		}{
			{"Projects", c.Projects == nil}, {"Records", c.Records == nil}, {"Occurrences", c.Occurrences == nil}, {"Insights", c.Insights == nil}, {"Changes", c.Changes == nil}, {"Eraser", c.Eraser == nil},
			{"Replayer", c.Replayer == nil}, {"LogCare", c.LogCare == nil}, {"Nodes", c.Nodes == nil}, {"Requests", c.Requests == nil}, {"Health", c.Health == nil}, {"Positions", c.Positions == nil},
			{"LogSettings", c.LogSettings == nil}, {"Security", c.Security == nil}, {"Challenges", c.Challenges == nil}, {"SignIn", c.SignIn == nil},
			{"Alerts", c.Alerts == nil}, {"Deliveries", c.Deliveries == nil},
		} {
			if required.missing {
				return fmt.Errorf("%s is missing", required.field)
			}
		}
	}
	for _, rate := range []struct {
		field string
		value int
	}{{"KeyRate", c.KeyRate}, {"FailedAuthRate", c.FailedAuthRate}} {
		if rate.value < 0 {
			return fmt.Errorf("%s: %d is negative; 0 switches the limit off", rate.field, rate.value)
		}
	}
	if c.PublicURL != "" {
		u, err := url.Parse(c.PublicURL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("PublicURL: %q is not http(s)://host", c.PublicURL)
		}
	}
	var err error
	if c.TrustedProxies, err = origin.Normal(c.TrustedProxies); err != nil {
		return fmt.Errorf("TrustedProxies: %w", err)
	}
	c.Version = cmp.Or(c.Version, "dev")
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	c.Random = cmp.Or(c.Random, rand.Reader)
	if c.Now == nil {
		c.Now = time.Now
	}
	return nil
}
