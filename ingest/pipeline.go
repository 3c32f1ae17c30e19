package ingest

import (
	"context"
	"errors"
	"io"
	"log/slog"
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
	Logger *slog.Logger
	// Registerer receives the metrics; nil for none.
	Registerer prometheus.Registerer
}

// Pipeline takes drafts the whole way onto the log. It is safe for concurrent use.
type Pipeline struct {
	log     Log
	rules   Rules
	logger  *slog.Logger
	metrics metrics

	mu     sync.Mutex // guards random: few readers are made for many goroutines
	random io.Reader
}

// New checks the configuration.
func New(cfg Config) (*Pipeline, error) {
	if cfg.Log == nil || cfg.Random == nil {
		return nil, errors.New("ingest: Log and Random are required")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Pipeline{
		log: cfg.Log, random: cfg.Random, rules: cfg.Rules, logger: cfg.Logger,
		metrics: newMetrics(cfg.Registerer),
	}, nil
}

// Accept implements [Accepter].
func (p *Pipeline) Accept(ctx context.Context, src Source, drafts []Draft) (Receipt, error) {
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
			receipt.Rejected = append(receipt.Rejected, Rejection{Index: i, Err: refused})
			continue
		}
		events = append(events, event)
		sources = append(sources, drafts[i].Context.Source)
	}
	if len(events) == 0 {
		return receipt, nil
	}
	if err := p.log.Append(ctx, events); err != nil {
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
		return errata.NewEventID(project, clientID), nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := io.ReadFull(p.random, id[:]); err != nil {
		return id, errata.Errorf(errata.KindInternal, "no random id could be made").Because(err)
	}
	return id, nil
}
