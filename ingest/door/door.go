// Package door is what all receivers over HTTP share. It finds the grant of a key,
// bounds and decompresses bodies, keeps the memory of all requests in flight within
// a [Budget], finds the sender's address, and writes, counts and logs refusals.
//
// A body is streamed. The package must not parse its content: each receiver knows its
// own protocol. Every error is an *errata.Error that the sender may see.
package door

import (
	"cmp"
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
	// Archived says which projects are refused; nil: none.
	Archived ingest.Archived
	// Switches is asked for each request and must not block; nil: all of
	// [errata.StandardLogging].
	Switches func() errata.Logging
	// TrustedProxies are the peers whose X-Forwarded-For and X-Real-IP are
	// believed; none by default.
	TrustedProxies []netip.Prefix
	// Budget bounds the memory of all requests in flight. All receivers should share
	// it; nil makes one for this receiver alone.
	Budget *Budget
	// Quotas bound the events of a key and a project. All receivers should share
	// them; nil: no limit.
	Quotas *quota.Quotas
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// NewID makes random ids of 32 hex digits; nil means crypto/rand.
	NewID func() string
	// Registerer receives the metrics; nil for none.
	Registerer prometheus.Registerer
	// Logger gets the errors that the sender must not see; nil discards them.
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

// Keyed is New for a receiver that takes other things than events. It needs no
// Accepter and must not call Accept.
func Keyed(name string, cfg Config) (*Door, error) {
	if cfg.Keyring == nil {
		return nil, fmt.Errorf("%s door: Keyring is missing", name)
	}
	var err error
	if cfg.TrustedProxies, err = origin.Normal(cfg.TrustedProxies); err != nil {
		return nil, fmt.Errorf("%s door: TrustedProxies: %w", name, err)
	}
	cfg.Budget = cmp.Or(cfg.Budget, NewBudget(DefaultBudget))
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.NewID == nil {
		cfg.NewID = randomID
	}
	if cfg.Switches == nil {
		cfg.Switches = errata.StandardLogging
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

// Register registers the collector. It returns the equal one if another receiver has
// registered it before.
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

// Open opens the body of a request with events of the grant, and charges its memory to
// the budget. A large body is parsed in its turn, and refused then if the quota is used up
// by requests before it. Kinds: those of [Open] and [Door.Admit].
func (d *Door) Open(w http.ResponseWriter, r *http.Request, g access.Grant, maxOpen int64) (*Body, error) {
	return Open(w, r, Options{MaxOpen: maxOpen, Budget: d.Budget, Sender: d.charged(r, g), Turns: turnsOf(d.Quotas, g, false)})
}

// OpenFree is Open for a body without events, which no quota refuses.
func (d *Door) OpenFree(w http.ResponseWriter, r *http.Request, g access.Grant, maxOpen int64) (*Body, error) {
	return Open(w, r, Options{MaxOpen: maxOpen, Budget: d.Budget, Sender: d.charged(r, g), Turns: turnsOf(d.Quotas, g, true)})
}

// OpenUnknown is Open for a body that has the key in it. The caller calls
// [Door.Identify] before it reads much. It refuses codings with which the sender
// chooses how much memory they take.
func (d *Door) OpenUnknown(w http.ResponseWriter, r *http.Request, maxOpen int64) (*Body, error) {
	if Windowed(r.Header) {
		return nil, errata.Errorf(errata.KindUnauthorized,
			"a body in br or zstd is opened only for a key outside of it; send the key in the header X-Sentry-Auth or the query parameter sentry_key, or compress with gzip")
	}
	return Open(w, r, Options{MaxOpen: maxOpen, Budget: d.Budget, Sender: d.charged(r, access.Grant{})})
}

// Identify charges a body of OpenUnknown to the key of the grant.
func (d *Door) Identify(r *http.Request, b *Body, g access.Grant) error {
	return b.Identify(r.Context(), d.charged(r, g), turnsOf(d.Quotas, g, false))
}

// charged is the sender that the memory of a request is charged to.
func (d *Door) charged(r *http.Request, g access.Grant) Sender {
	return Sender{Key: g.KeyID, Addr: origin.Group(d.Sender(r))}
}

// Sender is the address that the request came from.
func (d *Door) Sender(r *http.Request) netip.Addr { return origin.Client(r, d.TrustedProxies) }

// Admit refuses a request whose key or project is over its quota. Receivers call it
// as soon as the key is known, before they read the body. Kind: rate_limited.
func (d *Door) Admit(g access.Grant) error { return d.Quotas.Check(g) }

// Accept waits until the request has its turns of the key and of the project, unless its
// body has them already. Then it puts the drafts on the log and charges them to the quota.
func (d *Door) Accept(ctx context.Context, b *Body, g access.Grant, drafts []ingest.Draft) (ingest.Receipt, error) {
	turn, err := d.enter(ctx, b, g, len(drafts))
	if err != nil {
		return ingest.Receipt{}, err
	}
	defer turn.Leave()
	receipt, err := d.Accepter.Accept(ctx, ingest.Source{Project: g.Project, KeyID: g.KeyID, Received: d.Now()}, drafts)
	if err == nil {
		d.Quotas.Charge(g, receipt.Accepted+receipt.Noise+len(receipt.Rejected))
	}
	return receipt, err
}

// enter waits for the turn of so many events. The turn of a large body is used if it is
// enough, and given back with the body.
func (d *Door) enter(ctx context.Context, b *Body, g access.Grant, events int) (quota.Turn, error) {
	if turn := b.ahead.turn; turn != nil && turn.Covers(events) {
		return quota.Turn{}, nil
	}
	b.ahead.leave()
	return d.Quotas.Enter(ctx, g, events)
}

// Done counts the answer to a request and logs an error that the sender must not see.
// Receivers call it after the body was closed and before the answer. It may delay a
// refusal by [Door.Admit]. ctx is the request's; err is nil for a request that was
// taken.
func (d *Door) Done(ctx context.Context, requestID string, err error) {
	d.Quotas.Settle(ctx, err)
	if err == nil {
		d.requests.WithLabelValues(d.name, "ok").Inc()
		return
	}
	if ctx.Err() != nil {
		// The sender is gone, and that may be why the request failed.
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
