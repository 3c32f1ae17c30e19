// Package door holds what all doors share beside the body: their
// configuration, the look-up of API keys, and the counting and logging of what
// they answered. It parses no protocol and writes no answer.
package door

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/body"
	"github.com/errata-log/errata/ingest/quota"
	"github.com/errata-log/errata/internal/httpstatus"
	"github.com/errata-log/errata/origin"
)

// Config is what a door needs. Accepter and Keyring are required.
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
	// by all doors; nil makes one for this door alone.
	Budget *body.Budget
	// Quotas are how many events a key and a project may send, and should be
	// shared by all doors; nil: as many as they like.
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

// New checks the configuration. name is the door's name in metrics and logs.
func New(name string, cfg Config) (*Door, error) {
	if cfg.Accepter == nil {
		return nil, fmt.Errorf("%s door: Accepter is missing", name)
	}
	return Keyed(name, cfg)
}

// Keyed is New for a door that takes something else than events: it has no
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
		cfg.Budget = body.NewBudget(body.DefaultBudget)
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

// Register registers the collector, or finds the equal one that another door
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

// Open opens the body of a request of the grant's holder within the door's
// budget.
func (d *Door) Open(w http.ResponseWriter, r *http.Request, g ingest.Grant, maxOpen int64) (*body.Body, error) {
	return body.Open(w, r, body.Options{MaxOpen: maxOpen, Budget: d.Budget, Sender: d.charged(r, g)})
}

// OpenUnknown is Open for a body that brings its key. [Door.Identify] must
// follow before anything large is read. It refuses the codings with which a
// sender says how much memory is taken.
func (d *Door) OpenUnknown(w http.ResponseWriter, r *http.Request, maxOpen int64) (*body.Body, error) {
	if body.Windowed(r.Header) {
		return nil, errata.Errorf(errata.KindUnauthorized,
			"a body in br or zstd is opened only for a key outside of it; send the key in the header X-Sentry-Auth or the query parameter sentry_key, or compress with gzip")
	}
	return d.Open(w, r, ingest.Grant{}, maxOpen)
}

// Identify charges a body of OpenUnknown to the holder of the grant.
func (d *Door) Identify(r *http.Request, b *body.Body, g ingest.Grant) error {
	return b.Identify(r.Context(), d.charged(r, g))
}

// charged is who the memory of a request is charged to.
func (d *Door) charged(r *http.Request, g ingest.Grant) body.Sender {
	return body.Sender{Key: g.KeyID, Addr: origin.Group(d.Sender(r))}
}

// Sender is the address that the request came from.
func (d *Door) Sender(r *http.Request) netip.Addr { return origin.Client(r, d.TrustedProxies) }

// Admit refuses a request whose key or project has sent more than it may. It is
// asked as soon as the key is known, before the body is read. Kind: rate_limited.
func (d *Door) Admit(g ingest.Grant) error { return d.Quotas.Check(g) }

// Accept hands the drafts over as coming from the holder of the grant, when it is
// their turn, and charges them.
func (d *Door) Accept(ctx context.Context, g ingest.Grant, drafts []ingest.Draft) (ingest.Receipt, error) {
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

// ByToken finds the grant of the API key in Authorization: Bearer or
// X-Api-Key. Errors: unauthorized, insufficient_scope, and whatever keeps the
// keyring from knowing.
func (d *Door) ByToken(r *http.Request) (ingest.Grant, error) {
	token := r.Header.Get("X-Api-Key")
	if scheme, rest, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		token = strings.TrimSpace(rest)
	}
	if token == "" {
		return ingest.Grant{}, errata.Errorf(errata.KindUnauthorized,
			"send an ingest key as Authorization: Bearer KEY or X-Api-Key: KEY")
	}
	return d.Keyring.ByToken(token)
}

// ByPublicKey finds the grant of a Sentry public key. An unknown key and a
// foreign project get the same answer, insufficient_scope, so that nobody
// learns which projects there are.
func (d *Door) ByPublicKey(key string, project uint64) (ingest.Grant, error) {
	refused := errata.Errorf(errata.KindInsufficientScope, "the key is not known or not for this project; check the DSN")
	if !isPublicKey(key) {
		return ingest.Grant{}, refused
	}
	grant, err := d.Keyring.ByPublicKey(key, project)
	switch errata.KindOf(err) {
	case errata.KindUnauthorized, errata.KindInsufficientScope, errata.KindNotFound:
		return ingest.Grant{}, refused.Because(err)
	}
	return grant, err
}

// isPublicKey says whether the text has the form of a public key, so that
// nothing else reaches the keyring.
func isPublicKey(key string) bool {
	if len(key) != 32 {
		return false
	}
	for _, c := range []byte(key) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
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

// Told is err as the sender may see it: unknown errors become internal, and a
// refusal that will pass says when.
func Told(err error) *errata.Error {
	var told *errata.Error
	if !errors.As(err, &told) {
		told = errata.Errorf(errata.KindInternal, "the request could not be handled; the operator's log has the reason")
	}
	if told.RetryAfter <= 0 && Passing(told.Kind) {
		waiting := *told
		waiting.RetryAfter = defaultRetry
		return &waiting
	}
	return told
}

// defaultRetry is how long a sender waits when nobody said: a restart of the
// log takes less.
const defaultRetry = 5 * time.Second

// Passing says whether a refusal of the kind will pass by waiting.
func Passing(kind errata.Kind) bool {
	status := httpstatus.Of(kind)
	return status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests
}

// RetrySeconds is the wait in whole seconds, at least 1.
func RetrySeconds(e *errata.Error) int {
	return max(1, int((e.RetryAfter+time.Second-1)/time.Second))
}

// RequestID is the id that somebody in front of the door gave the request, or
// a new one. It is sent with the answer.
func (d *Door) RequestID(w http.ResponseWriter) string {
	const header = "X-Request-Id"
	id := w.Header().Get(header)
	if id == "" {
		id = d.NewID()
		w.Header().Set(header, id)
	}
	return id
}

// randomID is 128 bits from the system's generator, which never fails.
func randomID() string {
	var id [16]byte
	_, _ = rand.Read(id[:])
	return hex.EncodeToString(id[:])
}
