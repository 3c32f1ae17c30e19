package ingest

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
)

// Log takes events and returns when they are on disk. The appender of package
// eventlog is it. Errors are *errata.Error of kind log_unavailable or log_full.
type Log interface {
	Append(ctx context.Context, events []errata.Event) error
}

// Config is what a Pipeline needs.
type Config struct {
	Log Log
	// Random gives ids to events that bring none; crypto/rand.Reader in the service.
	Random io.Reader
	Rules  Rules
	// Switches is asked for each request and must not block; nil: all of
	// [errata.StandardLogging].
	Switches func() errata.Logging
	Logger   *slog.Logger
	// Registerer receives the metrics; nil for none.
	Registerer prometheus.Registerer
}

// Pipeline takes drafts the whole way onto the log. It is safe for concurrent use.
type Pipeline struct {
	log      Log
	rules    Rules
	switches func() errata.Logging
	logger   *slog.Logger
	metrics  metrics

	mu     sync.Mutex // guards random: few readers are made for many goroutines
	random io.Reader
}

// New checks the configuration.
func New(cfg Config) (*Pipeline, error) {
	if cfg.Log == nil {
		return nil, errors.New("ingest: Config.Log is required")
	}
	if cfg.Random == nil {
		return nil, errors.New("ingest: Config.Random is required")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Switches == nil {
		cfg.Switches = errata.StandardLogging
	}
	metrics, err := newMetrics(cfg.Registerer)
	if err != nil {
		return nil, err
	}
	return &Pipeline{
		log: cfg.Log, random: cfg.Random, rules: cfg.Rules, switches: cfg.Switches, logger: cfg.Logger, metrics: metrics,
	}, nil
}

// Accept implements [Accepter].
func (p *Pipeline) Accept(ctx context.Context, src Source, drafts []Draft) (Receipt, error) {
	return p.AcceptTo(ctx, src, drafts, func(ctx context.Context, events []errata.Event, _ []Rejection) error {
		return p.log.Append(ctx, events)
	})
}

// Store puts the accepted events of one call on the log. It is told first what
// was rejected: a way in that has nobody to answer keeps that elsewhere, before
// the events on the log say that the whole call is done with.
type Store func(ctx context.Context, events []errata.Event, rejected []Rejection) error

// AcceptTo is Accept with another way onto the log. store is not called when
// no draft was accepted.
func (p *Pipeline) AcceptTo(ctx context.Context, src Source, drafts []Draft, store Store) (Receipt, error) {
	if !p.switches().ErrorLog {
		p.metrics.dropped.WithLabelValues(switchedOff).Add(float64(len(drafts)))
		return Receipt{Dropped: len(drafts)}, nil
	}
	var receipt Receipt
	events := make([]errata.Event, 0, len(drafts))
	sources := make([]string, 0, len(drafts))
	for i := range drafts {
		id, err := p.eventID(src.Project, drafts[i].ClientID)
		if err != nil {
			return Receipt{}, err
		}
		event, refused := p.rules.Event(&drafts[i], src, id)
		if refused != nil {
			p.metrics.dropped.WithLabelValues(string(refused.Kind)).Inc()
			p.logger.DebugContext(ctx, "draft refused", "kind", refused.Kind, "project", src.Project, "key_id", src.KeyID)
			receipt.Rejected = append(receipt.Rejected, Rejection{Index: i, Err: refused})
			continue
		}
		events = append(events, event)
		sources = append(sources, drafts[i].Context.Source)
	}
	if len(events) == 0 {
		return receipt, nil
	}
	if err := store(ctx, events, receipt.Rejected); err != nil {
		p.metrics.dropped.WithLabelValues(string(errata.KindOf(err))).Add(float64(len(events)))
		return Receipt{}, err
	}
	for _, source := range sources {
		p.metrics.accepted.WithLabelValues(source).Inc()
	}
	receipt.Accepted = len(events)
	return receipt, nil
}

// eventID is the client's id within its project, or a random one.
func (p *Pipeline) eventID(project uint64, clientID string) (id errata.EventID, err error) {
	if clientID != "" {
		return EventID(project, clientID), nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := io.ReadFull(p.random, id[:]); err != nil {
		return id, errata.Errorf(errata.KindInternal, "no random id could be made").Because(err)
	}
	return id, nil
}

// EventID is the id of the event that a client of the project gave an id.
func EventID(project uint64, clientID string) errata.EventID {
	return errata.NewEventID(project, canonicalID(clientID))
}

// canonicalID is a UUID without its dashes and in lower case, because SDKs
// write one id both ways; any other id as it is.
func canonicalID(id string) string {
	const dashed, plain = 36, 32
	if len(id) != dashed && len(id) != plain {
		return id
	}
	bare := id
	if len(id) == dashed {
		if id[8] != '-' || id[13] != '-' || id[18] != '-' || id[23] != '-' {
			return id
		}
		bare = strings.ReplaceAll(id, "-", "")
	}
	if len(bare) != plain || strings.IndexFunc(bare, notHex) >= 0 {
		return id
	}
	return strings.ToLower(bare)
}

func notHex(r rune) bool { return notDigit(r) && ('a' > r|0x20 || r|0x20 > 'f') }
