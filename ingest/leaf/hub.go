package leaf

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/background"
)

const (
	// look is how often the hub looks which nodes are connected: the server tells
	// nobody that one has come or gone.
	look = time.Second
	// reader is the name of the hub's reader of a spool.
	reader = "hub"
	// markPrefix begins the names of spools in the marks on the log.
	markPrefix = "leaf-"
)

// Config says whom a Hub serves. Everything but Now, Logger, Skipped and Registerer
// is required.
type Config struct {
	// Log gets the events. Kept has the marks of spools that were purged from it.
	Log  eventlog.Log
	Kept jetstream.KeyValue
	// Keys are the API keys of the hub.
	Keys jetstream.KeyValue
	// Connected are the ids of the nodes that are connected. A node's id is also
	// its JetStream domain on Conn.
	Connected func() []string
	Conn      *nats.Conn
	// Spool is the stream of events on a node, CopiedKeys its bucket of keys.
	Spool, CopiedKeys string
	// Now is the clock, nil for the system's.
	Now func() time.Time
	// Logger takes what the operator should see; nil discards it.
	Logger *slog.Logger
	// Skipped is told of a message in a spool's place on the log that somebody else
	// has put there; nil for nobody.
	Skipped func(sequence uint64, why error)
	// Registerer receives the metrics; nil for none.
	Registerer prometheus.Registerer
}

// Hub takes the events of the ingest nodes that are connected, and sends them
// the keys that may send.
type Hub struct {
	cfg     Config
	metrics metrics
	lanes   map[string]*background.Runner // the work for a node, by its id; one goroutine owns it
	work    background.Runner
}

// NewHub checks the configuration. Start begins the work.
func NewHub(cfg Config) (*Hub, error) {
	if cfg.Log.JetStream == nil || cfg.Kept == nil || cfg.Keys == nil || cfg.Connected == nil || cfg.Conn == nil || cfg.Spool == "" || cfg.CopiedKeys == "" {
		return nil, errors.New("leaf: Log, Kept, Keys, Connected, Conn, Spool and CopiedKeys are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	h := &Hub{cfg: cfg, lanes: map[string]*background.Runner{}}
	var err error
	h.metrics, err = newMetrics(cfg.Registerer)
	return h, err
}

// Start begins to take events; a second call does nothing.
func (h *Hub) Start() {
	h.work.Start(func(ctx context.Context) {
		background.Loop{Every: look, Do: func(context.Context) error {
			connected := h.cfg.Connected()
			h.serve(connected)
			h.metrics.connected.Set(float64(len(connected)))
			return nil
		}}.Run(ctx)
		h.serve(nil)
	})
}

// Stop ends the work and waits for it. What was not taken stays on its node.
func (h *Hub) Stop() { _ = h.work.Stop(context.Background()) }

// serve begins the work for nodes that have come and ends it for those that have
// gone.
func (h *Hub) serve(connected []string) {
	for _, id := range connected {
		if _, known := h.lanes[id]; !known {
			h.begin(id)
		}
	}
	for id, l := range h.lanes {
		if !slices.Contains(connected, id) {
			delete(h.lanes, id)
			_ = l.Stop(context.Background())
			h.metrics.pending.DeleteLabelValues(id)
			h.cfg.Logger.Info("an ingest node has gone", "leaf", id)
		}
	}
}

func (h *Hub) begin(id string) {
	logger := h.cfg.Logger.With("leaf", id)
	js, err := jetstream.NewWithDomain(h.cfg.Conn, id)
	if err != nil {
		logger.Error("the ingest node cannot be asked", "error", err) // its id was checked
		return
	}
	logger.Info("an ingest node has come")
	drain := eventlog.NewDrain(eventlog.DrainConfig{
		Log: h.cfg.Log, JetStream: js, Stream: h.cfg.Spool, Name: markPrefix + id, Kept: h.cfg.Kept, Reader: reader,
		Take: eventlog.TakeBlocks(h.cfg.Now), Logger: logger, Skipped: h.cfg.Skipped,
		Took: func(fresh, repeated int, pending uint64) {
			h.metrics.blocks.Add(float64(fresh))
			h.metrics.repeats.Add(float64(repeated))
			h.metrics.pending.WithLabelValues(id).Set(float64(pending))
		},
	})
	h.lanes[id] = &background.Runner{}
	h.lanes[id].Start(drain.Run, background.Loop{
		Do: func(ctx context.Context) error { return h.copyKeys(ctx, js) }, Pauses: background.Pauses{First: look, Most: look},
		Failed: background.Tell(logger.Debug, "the keys of an ingest node could not be kept up to date"),
	}.Run)
}

// copyKeys keeps the node's keys those of the hub until ctx ends or one of both
// does not answer, which it returns.
func (h *Hub) copyKeys(ctx context.Context, js jetstream.JetStream) error {
	to, err := js.KeyValue(ctx, h.cfg.CopiedKeys)
	if err != nil {
		return err
	}
	return access.CopyKeys(ctx, h.cfg.Keys, to)
}
