package leaf

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/projects"
)

const (
	// look is how often the hub asks which nodes are connected: the server does not
	// announce them.
	look = time.Second
	// reader is the name of the hub's reader of a spool.
	reader = "hub"
	// markPrefix begins the name of each spool's mark on the log.
	markPrefix = "leaf-"
)

// Config is what a Hub needs. Now, Logger, Skipped and Registerer are optional.
type Config struct {
	// Log gets the events. Kept has the spools' marks after a purge of the log.
	Log  eventlog.Log
	Kept jetstream.KeyValue
	// Keys are the API keys of the hub.
	Keys jetstream.KeyValue
	// Projects gives what receivers must know of projects, by number; nil: nothing. It
	// must not block.
	Projects func() map[uint64]projects.AtDoor
	// Connected gives the ids of the connected nodes. A node's id is also its
	// JetStream domain on Conn.
	Connected func() []string
	Conn      *nats.Conn
	// Spool is the stream of events on a node, CopiedKeys its bucket of keys.
	Spool, CopiedKeys string
	// Now is the clock, nil for the system's.
	Now func() time.Time
	// Logger takes what the operator should see; nil discards it.
	Logger *slog.Logger
	// Skipped is called for a message on the subject of a spool's mark that another
	// program put on the log; may be nil.
	Skipped func(sequence uint64, why error)
	// Registerer receives the metrics; nil for none.
	Registerer prometheus.Registerer
}

// Hub takes the events of the connected ingest nodes, and copies the API keys and what
// receivers must know of projects to them.
type Hub struct {
	cfg     Config
	metrics metrics
	work    background.Runner
	nodes   map[string]*background.Runner // by the node's id; one goroutine owns it
}

// NewHub checks the configuration. Start begins the work.
func NewHub(cfg Config) (*Hub, error) {
	if cfg.Log.JetStream == nil || cfg.Kept == nil || cfg.Keys == nil || cfg.Connected == nil || cfg.Conn == nil || cfg.Spool == "" || cfg.CopiedKeys == "" {
		return nil, errors.New("leaf: Log, Kept, Keys, Connected, Conn, Spool and CopiedKeys are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	h := &Hub{cfg: cfg, nodes: map[string]*background.Runner{}}
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

// Stop ends the work and waits for it. Events that were not taken stay on their node.
// The error is that of ctx.
func (h *Hub) Stop(ctx context.Context) error { return h.work.Stop(ctx) }

// serve begins the work for new nodes and ends it for those that are not connected
// any more.
func (h *Hub) serve(connected []string) {
	for _, id := range connected {
		if _, known := h.nodes[id]; !known {
			h.begin(id)
		}
	}
	var ending sync.WaitGroup
	for id, work := range h.nodes {
		if slices.Contains(connected, id) {
			continue
		}
		delete(h.nodes, id)
		ending.Go(func() {
			_ = work.Stop(context.Background()) // the error is that of the context, which does not end
			h.metrics.pending.DeleteLabelValues(id)
			h.cfg.Logger.Info("an ingest node is no longer connected", "leaf", id)
		})
	}
	ending.Wait()
}

// copyKeys copies the API keys to a node, and each change of them. A node takes events
// once it has a key, so what it does with them comes first: the key for users, and the
// settings of projects. A node that has keys gets their changes at once.
func (h *Hub) copyKeys(js jetstream.JetStream) func(context.Context) error {
	return func(ctx context.Context) error {
		to, err := js.KeyValue(ctx, h.cfg.CopiedKeys)
		if err != nil {
			return err
		}
		before, err := access.Copied(ctx, to)
		if err != nil {
			return err
		}
		if !before {
			if err := errors.Join(h.copyUserKey(js)(ctx), h.copyProjects(js)(ctx)); err != nil {
				return err
			}
		}
		return access.CopyKeys(ctx, h.cfg.Keys, to)
	}
}

// copyUserKey copies the key that users are hashed with to a node, once: it never changes.
func (h *Hub) copyUserKey(js jetstream.JetStream) func(context.Context) error {
	copied := false
	return func(ctx context.Context) error {
		if copied {
			return nil
		}
		to, err := js.KeyValue(ctx, h.cfg.CopiedKeys)
		if err != nil {
			return err
		}
		copied, err = access.CopyUserKey(ctx, h.cfg.Keys, to)
		return err
	}
}

// copyProjects copies what receivers must know of projects to a node each time that has
// changed.
func (h *Hub) copyProjects(js jetstream.JetStream) func(context.Context) error {
	var copied map[uint64][]byte
	return func(ctx context.Context) error {
		if h.cfg.Projects == nil {
			return nil
		}
		now := map[uint64][]byte{}
		for number, at := range h.cfg.Projects() {
			value, err := json.Marshal(at)
			if err != nil {
				return fmt.Errorf("encode what receivers must know of project %d: %w", number, err)
			}
			now[number] = value
		}
		if copied != nil && maps.EqualFunc(now, copied, bytes.Equal) {
			return nil
		}
		to, err := js.KeyValue(ctx, h.cfg.CopiedKeys)
		if err != nil {
			return err
		}
		if err := access.CopySettings(ctx, now, to); err != nil {
			return err
		}
		copied = now
		return nil
	}
}

func (h *Hub) begin(id string) {
	logger := h.cfg.Logger.With("leaf", id)
	js, err := jetstream.NewWithDomain(h.cfg.Conn, id)
	if err != nil {
		logger.Error("the ingest node cannot be read", "error", err) // not possible: the id was checked
		return
	}
	logger.Info("an ingest node is connected")
	drain := eventlog.NewDrain(eventlog.DrainConfig{
		Log: h.cfg.Log, JetStream: js, Stream: h.cfg.Spool, Name: markPrefix + id, Kept: h.cfg.Kept, Reader: reader,
		Take: eventlog.TakeBlocks(h.cfg.Now), Logger: logger, Skipped: h.cfg.Skipped,
		Took: func(fresh, repeated int, pending uint64) {
			h.metrics.blocks.Add(float64(fresh))
			h.metrics.repeats.Add(float64(repeated))
			h.metrics.pending.WithLabelValues(id).Set(float64(pending))
		},
	})
	copies := background.Loop{Every: look, Do: h.copyKeys(js), Failed: func(err error, _ int) {
		logger.Debug("the keys could not be copied to the ingest node; trying again", "error", err)
	}}
	settings := background.Loop{Every: look, Do: h.copyProjects(js), Failed: func(err error, _ int) {
		logger.Debug("the settings of projects could not be copied to the ingest node; trying again", "error", err)
	}}
	userKey := background.Loop{Every: look, Do: h.copyUserKey(js), Failed: func(err error, _ int) {
		logger.Debug("the key that users are hashed with could not be copied to the ingest node; trying again", "error", err)
	}}
	work := &background.Runner{}
	work.Start(drain.Run, copies.Run, settings.Run, userKey.Run)
	h.nodes[id] = work
}
