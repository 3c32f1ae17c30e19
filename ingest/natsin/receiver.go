package natsin

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/quota"
	"github.com/errata-log/errata/internal/background"
)

// Subjects, without the prefix of the namespace.
const (
	subjectEvents = "errors.v1."
	subjectDead   = "errors.dead."
)

// markName is the queue's name in the marks on the log.
const markName = "nats"

// Queues are the streams of published messages and dead letters.
type Queues struct {
	JetStream jetstream.JetStream
	// Intake and Dead are the names of the streams; Prefix stands in front of
	// every subject.
	Intake, Dead, Prefix string
}

// Accepter puts drafts on the log; *ingest.Pipeline implements it.
type Accepter interface {
	AcceptTo(ctx context.Context, src ingest.Source, drafts []ingest.Draft, store ingest.Store) (ingest.Receipt, error)
}

// Config is what a Receiver needs.
type Config struct {
	Queues   Queues
	Log      eventlog.Log
	Accepter Accepter
	// Rules scrub the dead letters.
	Rules ingest.Rules
	// Kept has the queue's mark after a purge of the log.
	Kept jetstream.KeyValue
	// Project is the project of all published events.
	Project uint64
	// Archived says which projects are refused: messages of theirs become dead
	// letters. nil: none.
	Archived ingest.Archived
	// Quotas slow the receiver down: messages over the quota wait in the queue, and
	// publishers get an error when it is full. nil: no limit.
	Quotas *quota.Quotas
	// Now is the clock, nil for the system's.
	Now func() time.Time
	// Logger takes what the operator should see; nil discards it.
	Logger *slog.Logger
	// Skipped is called for a message on the subject of the queue's mark that another
	// program put on the log, perhaps more than once; may be nil.
	Skipped func(sequence uint64, why error)
	// Registerer receives the metrics; nil for none.
	Registerer prometheus.Registerer
}

// Receiver takes events from the queue to the log. Of the receivers on several nodes
// one works at a time; the others wait.
type Receiver struct {
	cfg     Config
	letters *Letters
	metrics metrics
	// since is when the queue took the oldest message of the open batch, in
	// Unix nanoseconds, 0 for none.
	since atomic.Int64
	drain *eventlog.Drain
	work  background.Runner
}

// New checks the configuration. Start begins the work.
func New(cfg Config) (*Receiver, error) {
	switch {
	case cfg.Queues.JetStream == nil || cfg.Queues.Intake == "" || cfg.Queues.Dead == "":
		return nil, errors.New("natsin: JetStream and the names of the streams are required")
	case cfg.Accepter == nil || cfg.Log.JetStream == nil:
		return nil, errors.New("natsin: Accepter and Log are required")
	case cfg.Project == 0:
		return nil, errors.New("natsin: Project is required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	r := &Receiver{cfg: cfg, letters: NewLetters(cfg.Queues, cfg.Rules)}
	r.drain = eventlog.NewDrain(eventlog.DrainConfig{
		Log: cfg.Log, JetStream: cfg.Queues.JetStream, Stream: cfg.Queues.Intake, Name: markName, Kept: cfg.Kept,
		Take: r.take, Took: r.took, Logger: cfg.Logger, Skipped: cfg.Skipped,
	})
	var err error
	r.metrics, err = newMetrics(cfg.Registerer, func() float64 { return r.lag().Seconds() })
	return r, err
}

func (r *Receiver) lag() time.Duration {
	since := r.since.Load()
	if since == 0 {
		return 0
	}
	return max(0, r.cfg.Now().Sub(time.Unix(0, since)))
}

func (r *Receiver) took(fresh, repeated int, pending uint64) {
	r.metrics.taken.Add(float64(fresh))
	r.metrics.repeated.Add(float64(repeated))
	r.metrics.pending.Set(float64(pending))
}

// Start begins to take messages; a second call does nothing.
func (r *Receiver) Start() { r.work.Start(r.drain.Run) }

// Stop ends the work and waits for it. What is not taken stays in the queue.
// The error is that of ctx.
func (r *Receiver) Stop(ctx context.Context) error { return r.work.Stop(ctx) }

// asTold is err as a refusal whose message may be shown.
func asTold(err error) *errata.Error {
	if told, ok := errors.AsType[*errata.Error](err); ok {
		return told
	}
	return errata.Errorf(errata.KindInternal, "the message could not be read").Because(err)
}

// awayFor is the error for a NATS that did not answer.
func awayFor(err error) error {
	return errata.Errorf(errata.KindLogUnavailable, "NATS did not answer for the published messages; try again").Because(err)
}
