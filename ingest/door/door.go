// Package door is what all receivers over HTTP share: it finds the grant of a
// key, bounds and decompresses bodies, keeps the memory of all requests in
// flight within a [Budget], knows who sent a request, and writes, counts and logs
// refusals.
//
// A body is streamed. Nothing here parses what is inside: each receiver knows its
// own protocol. Every error is an *errata.Error that can be shown.
package door

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/quota"
	"github.com/errata-log/errata/internal/httpstatus"
	"github.com/errata-log/errata/origin"
)

// Config is what a receiver needs. Accepter and Keyring are required.
type Config struct {
	// Accepter puts the drafts on the log.
	Accepter ingest.Accepter
	// Keyring knows the keys that may send.
	Keyring ingest.Keyring
	// Switches is asked for each request and must not block; nil: all of
	// [errata.StandardLogging].
	Switches func() errata.Logging
	// TrustedProxies are the peers whose X-Forwarded-For and X-Real-IP are
	// believed; none by default.
	TrustedProxies []netip.Prefix
	// Budget bounds the memory of all requests in flight and should be shared
	// by all receivers; nil makes one for this receiver alone.
	Budget *Budget
	// Quotas are how many events a key and a project may send, and should be
	// shared by all receivers; nil: as many as they like.
	Quotas *quota.Quotas
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// NewID makes random ids of 32 hex digits; nil means crypto/rand.
	NewID func() string
	// Registerer takes the metrics; nil keeps them unregistered.
	Registerer prometheus.Registerer
	// Logger takes what only the operator may see; nil discards it.
	Logger *slog.Logger
}

// Door is a checked Config with its defaults filled in.
type Door struct {
	Config
	name     string
	requests *prometheus.CounterVec
}

// New checks the configuration. name is the receiver's name in metrics and logs.
func New(name string, cfg Config) (*Door, error) {
	if cfg.Accepter == nil {
		return nil, fmt.Errorf("%s door: Accepter is missing", name)
	}
	return Keyed(name, cfg)
}

// Keyed is New for a receiver that takes something else than events: it has no
// need of an Accepter and must not call Accept.
func Keyed(name string, cfg Config) (*Door, error) {
	if cfg.Keyring == nil {
		return nil, fmt.Errorf("%s door: Keyring is missing", name)
	}
	var err error
	if cfg.TrustedProxies, err = origin.Normal(cfg.TrustedProxies); err != nil {
		return nil, fmt.Errorf("%s door: TrustedProxies: %w", name, err)
	}
	if cfg.Budget == nil {
		cfg.Budget = NewBudget(DefaultBudget)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.NewID == nil {
		cfg.NewID = randomID
	}
	if cfg.Switches == nil {
		cfg.Switches = errata.StandardLogging
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	requests, err := Register(cfg.Registerer, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "errata_door_requests_total",
		Help: "Requests to the doors, by door and by the code of the answer: ok, or the kind of error.",
	}, []string{"door", "code"}))
	if err != nil {
		return nil, fmt.Errorf("%s door: %w", name, err)
	}
	return &Door{Config: cfg, name: name, requests: requests}, nil
}

// Register registers the collector, or finds the equal one that another receiver
// has registered before.
func Register[C prometheus.Collector](to prometheus.Registerer, c C) (C, error) {
	if to == nil {
		return c, nil
	}
	err := to.Register(c)
	if already, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if same, ok := already.ExistingCollector.(C); ok {
			return same, nil
		}
	}
	if err != nil {
		return c, fmt.Errorf("register metrics: %w", err)
	}
	return c, nil
}

// Open opens the body of a request of the grant's holder within the receivers'
// budget.
func (d *Door) Open(w http.ResponseWriter, r *http.Request, g access.Grant, maxOpen int64) (*Body, error) {
	return Open(w, r, Options{MaxOpen: maxOpen, Budget: d.Budget, Sender: d.charged(r, g)})
}

// OpenUnknown is Open for a body that brings its key. [Door.Identify] must
// follow before anything large is read. It refuses the codings with which a
// sender says how much memory is taken.
func (d *Door) OpenUnknown(w http.ResponseWriter, r *http.Request, maxOpen int64) (*Body, error) {
	if Windowed(r.Header) {
		return nil, errata.Errorf(errata.KindUnauthorized,
			"a body in br or zstd is opened only for a key outside of it; send the key in the header X-Sentry-Auth or the query parameter sentry_key, or compress with gzip")
	}
	return d.Open(w, r, access.Grant{}, maxOpen)
}

// Identify charges a body of OpenUnknown to the holder of the grant.
func (d *Door) Identify(r *http.Request, b *Body, g access.Grant) error {
	return b.Identify(r.Context(), d.charged(r, g))
}

// charged is who the memory of a request is charged to.
func (d *Door) charged(r *http.Request, g access.Grant) Sender {
	return Sender{Key: g.KeyID, Addr: origin.Group(d.Sender(r))}
}

// Sender is the address that the request came from.
func (d *Door) Sender(r *http.Request) netip.Addr { return origin.Client(r, d.TrustedProxies) }

// Admit refuses a request whose key or project has sent more than it may. It is
// asked as soon as the key is known, before the body is read. Kind: rate_limited.
func (d *Door) Admit(g access.Grant) error { return d.Quotas.Check(g) }

// Accept hands the drafts over as coming from the holder of the grant, when it is
// their turn, and charges them.
func (d *Door) Accept(ctx context.Context, g access.Grant, drafts []ingest.Draft) (ingest.Receipt, error) {
	leave, err := d.Quotas.Enter(ctx, g)
	if err != nil {
		return ingest.Receipt{}, err
	}
	defer leave()
	receipt, err := d.Accepter.Accept(ctx, ingest.Source{Project: g.Project, KeyID: g.KeyID, Received: d.Now()}, drafts)
	if err == nil {
		d.Quotas.Charge(g, receipt.Accepted+len(receipt.Rejected))
	}
	return receipt, err
}

// Done counts the answer to a request and logs what only the operator may
// see. It is called once the body is closed, and may keep a refusal by [Door.Admit]
// back. ctx is the request's; err is nil for a request that was taken.
func (d *Door) Done(ctx context.Context, requestID string, err error) {
	d.Quotas.Settle(ctx, err)
	if err == nil {
		d.requests.WithLabelValues(d.name, "ok").Inc()
		return
	}
	if ctx.Err() != nil {
		// The sender is gone and what failed may have failed for that.
		d.requests.WithLabelValues(d.name, "client_gone").Inc()
		return
	}
	kind := errata.KindOf(err)
	d.requests.WithLabelValues(d.name, string(kind)).Inc()
	if httpstatus.Of(kind) == http.StatusInternalServerError {
		d.Logger.LogAttrs(ctx, slog.LevelError, "request failed",
			slog.String("door", d.name), slog.String("request_id", requestID), slog.Any("error", err))
	}
}
