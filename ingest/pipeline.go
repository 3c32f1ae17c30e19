package ingest

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"runtime"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/projects"
)

// Log takes events and returns when they are on disk. The appender of package
// eventlog implements it. Errors are *errata.Error of kind log_unavailable or log_full.
type Log interface {
	Append(ctx context.Context, events []errata.Event) error
}

// Config is what a Pipeline needs.
type Config struct {
	Log Log
	// Random makes the ids of events without one; crypto/rand.Reader in the service.
	Random io.Reader
	Rules  Rules
	// Switches is asked for each request and must not block; nil: all of
	// [errata.StandardLogging].
	Switches func() errata.Logging
	// Noise has the noise rules of projects; nil for none.
	Noise *Noise
	// RetentionDays is how many days a project keeps records, 0 for ever; see
	// [Source]. It is asked for each request and must not block. nil: all for ever.
	RetentionDays func(project uint64) int
	// Context says what a project keeps of the context of its events. It is asked for
	// each request and must not block. nil: what new projects keep.
	Context func(project uint64) projects.Context
	// UserKey is the key that users are hashed with, the same on all nodes, nil while
	// there is none; see [errata.Trail]. It must not block. nil: never a key.
	UserKey func() []byte

	Logger *slog.Logger
	// Registerer receives the metrics; nil for none.
	Registerer prometheus.Registerer
}

// Pipeline turns drafts into events on the log. It is safe for concurrent use.
type Pipeline struct {
	log      Log
	rules    Rules
	switches func() errata.Logging
	noise    *Noise
	days     func(project uint64) int
	context  func(project uint64) projects.Context
	userKey  func() []byte
	logger   *slog.Logger
	metrics  metrics

	mu     sync.Mutex // guards random, which need not be safe for concurrent use
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
	if cfg.Switches == nil {
		cfg.Switches = errata.StandardLogging
	}
	if cfg.RetentionDays == nil {
		cfg.RetentionDays = func(uint64) int { return 0 }
	}
	if cfg.Context == nil {
		cfg.Context = func(uint64) projects.Context { return projects.Context{} }
	}
	if cfg.UserKey == nil {
		cfg.UserKey = func() []byte { return nil }
	}
	metrics, err := newMetrics(cfg.Registerer)
	if err != nil {
		return nil, err
	}
	cfg.Rules.recent = newMemory()
	return &Pipeline{
		log: cfg.Log, random: cfg.Random, rules: cfg.Rules, switches: cfg.Switches, noise: cfg.Noise, days: cfg.RetentionDays, context: cfg.Context, userKey: cfg.UserKey, metrics: metrics,
		logger: cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler)),
	}, nil
}

// Accept implements [Accepter].
func (p *Pipeline) Accept(ctx context.Context, src Source, drafts []Draft) (Receipt, error) {
	return p.AcceptTo(ctx, src, drafts, func(ctx context.Context, events []errata.Event, _ []int, _ []Rejection) error {
		if len(events) == 0 {
			return nil
		}
		return p.log.Append(ctx, events)
	})
}

// Store puts the accepted events of one call on the log; of has the index of the draft of
// each. A receiver without a client to answer keeps the rejections in its own place
// before it appends the events.
type Store func(ctx context.Context, events []errata.Event, of []int, rejected []Rejection) error

// AcceptTo is Accept with store in place of the log's Append. store is not called
// while recording is switched off. events is empty when no draft is to be kept.
func (p *Pipeline) AcceptTo(ctx context.Context, src Source, drafts []Draft, store Store) (Receipt, error) {
	if !p.switches().ErrorLog {
		p.metrics.dropped.WithLabelValues("switched_off").Add(float64(len(drafts)))
		return Receipt{Dropped: len(drafts)}, nil
	}
	src.RetentionDays, src.Context, src.UserKey = p.days(src.Project), p.context(src.Project), p.userKey()
	events, of, receipt, err := p.judge(ctx, &src, drafts)
	if err != nil {
		return Receipt{}, err
	}
	if err := store(ctx, events, of, receipt.Rejected); err != nil {
		p.metrics.dropped.WithLabelValues(string(errata.KindOf(err))).Add(float64(len(events)))
		return Receipt{}, err
	}
	p.countAccepted(drafts, of)
	for _, a := range receipt.Adjusted {
		p.metrics.adjusted.WithLabelValues(string(a.Reason)).Inc()
	}
	p.noise.Count(src.Project, receipt.Noise)
	receipt.Accepted = len(events)
	return receipt, nil
}

// atATime is after how many bytes of drafts other requests may have the processor. They
// take less than a millisecond; the scheduler would let others wait for ten, at each of
// their steps.
const (
	atATime    = 32 << 10
	leastDraft = 256
)

// judge makes the events of the drafts that are kept; of has the index of the draft of
// each. The receipt has the others.
func (p *Pipeline) judge(ctx context.Context, src *Source, drafts []Draft) (events []errata.Event, of []int, receipt Receipt, err error) {
	if len(drafts) == 1 { // the most usual request: one allocation
		one := new(struct {
			event [1]errata.Event
			of    [1]int
		})
		events, of = one.event[:0], one.of[:0]
	} else {
		events, of = make([]errata.Event, 0, len(drafts)), make([]int, 0, len(drafts))
	}
	under := p.noise.Of(src.Project)
	w := workshops.Get().(*workshop) // the pool holds nothing else
	defer workshops.Put(w)
	for i, work := 0, 0; i < len(drafts); i++ {
		if work > atATime {
			work = 0
			runtime.Gosched()
		}
		id, err := p.eventID(src.Project, drafts[i].ClientID)
		if err != nil {
			return nil, nil, Receipt{}, err
		}
		event, dropped, refused := p.rules.judged(&drafts[i], src, id, under, w)
		work += leastDraft + len(drafts[i].Message) + len(drafts[i].Context.Extra) + len(event.Payload)
		if refused != nil {
			p.metrics.dropped.WithLabelValues(string(refused.Kind)).Inc()
			p.logger.DebugContext(ctx, "draft refused", "kind", refused.Kind, "project", src.Project, "key_id", src.KeyID)
			receipt.Rejected = append(receipt.Rejected, Rejection{Index: i, Err: refused})
			continue
		}
		if dropped {
			receipt.Noise++
			continue
		}
		if _, why := timeOf(&drafts[i], *src); why != "" {
			receipt.Adjusted = append(receipt.Adjusted, Adjustment{Index: i, Field: FieldTime, Reason: why})
		}
		events, of = append(events, event), append(of, i)
	}
	return events, of, receipt, nil
}

// countAccepted counts the drafts with the indexes. Those of a request are of one source,
// mostly.
func (p *Pipeline) countAccepted(drafts []Draft, of []int) {
	for len(of) > 0 {
		source, n := drafts[of[0]].Context.Source, 1
		for n < len(of) && drafts[of[n]].Context.Source == source {
			n++
		}
		p.metrics.accepted.WithLabelValues(source).Add(float64(n))
		of = of[n:]
	}
}

// eventID is the id made of the client's, or a random one.
func (p *Pipeline) eventID(project uint64, clientID string) (errata.EventID, error) {
	if clientID != "" {
		return EventID(project, clientID), nil
	}
	return p.randomID()
}

func (p *Pipeline) randomID() (id errata.EventID, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := io.ReadFull(p.random, id[:]); err != nil {
		return id, errata.Errorf(errata.KindInternal, "no random id could be made").Because(err)
	}
	return id, nil
}

// EventID is the id of an event to which a client of the project gave the id
// clientID. SDKs write the same UUID with and without dashes.
func EventID(project uint64, clientID string) errata.EventID {
	short, _ := errata.ShortUUID(clientID)
	return errata.NewEventID(project, short)
}
