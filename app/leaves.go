package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/migrations"
)

const (
	// leafLook is how often the hub looks which nodes are connected.
	leafLook = time.Second
	// leafReader is the name of the hub's reader of a spool.
	leafReader = "hub"
	// leafMark begins the names of spools in the marks on the log.
	leafMark = "leaf-"
)

// natsLeaves opens the embedded NATS to ingest nodes, if that is wanted.
func (a *App) natsLeaves() (leaves engine.NATSLeaves, err error) {
	if a.options.NATSLeafListen == "" {
		return leaves, nil
	}
	leaves.Addr = a.options.NATSLeafListen
	leaves.Password, err = passwordOf(a.dir.Join(datadir.LeafFile))
	a.leafPassword = leaves.Password
	return leaves, err
}

// startLeaves begins to take the events of ingest nodes.
func (a *App) startLeaves(ctx context.Context) error {
	if a.options.NATSLeafListen == "" {
		return nil
	}
	addr := a.engines.NATSLeavesAddr()
	if addr == "" {
		return errors.New("the embedded NATS does not listen for ingest nodes")
	}
	if err := writeNATSURL(a.dir.Join(datadir.LeafFile), addr, engine.LeafUser, a.leafPassword); err != nil {
		return err
	}
	keys, err := a.engines.JetStream().KeyValue(ctx, migrations.KeysBucket(a.options.Namespace))
	if err != nil {
		return fmt.Errorf("open the bucket of API keys: %w", err)
	}
	kept, err := a.importsBucket(ctx)
	if err != nil {
		return err
	}
	hub := &hub{app: a, keys: keys, kept: kept, metrics: newLeafMetrics(), lanes: map[string]lane{}}
	if err := hub.metrics.register(a.options.Registry); err != nil {
		return err
	}
	life, end := context.WithCancel(context.Background())
	hub.running.Go(func() { hub.watch(life) })
	a.cleanups.addPlain("ingest nodes", func() { end(); hub.running.Wait() })
	return nil
}

// hub takes the events of the ingest nodes that are connected, and sends them
// the keys that may send.
type hub struct {
	app     *App
	keys    jetstream.KeyValue
	kept    jetstream.KeyValue // marks that were purged from the log
	metrics leafMetrics
	running sync.WaitGroup
	lanes   map[string]lane // by the node's id; one goroutine owns it
}

// lane is the work for one node.
type lane struct {
	end  context.CancelFunc
	done *sync.WaitGroup
}

// watch begins the work for nodes that come and ends it for those that go.
func (h *hub) watch(ctx context.Context) {
	look := time.NewTicker(leafLook) // reason: the server tells nobody that a leaf has come or gone
	defer look.Stop()
	for {
		there := h.app.engines.Leaves()
		for _, id := range there {
			if _, known := h.lanes[id]; !known {
				h.begin(ctx, id)
			}
		}
		for id := range maps.Clone(h.lanes) {
			if !slices.Contains(there, id) {
				h.finish(id)
			}
		}
		h.metrics.connected.Set(float64(len(there)))
		select {
		case <-look.C:
		case <-ctx.Done():
			for id := range maps.Clone(h.lanes) {
				h.finish(id)
			}
			return
		}
	}
}

func (h *hub) begin(ctx context.Context, id string) {
	logger := h.app.logger.With("leaf", id)
	js, err := jetstream.NewWithDomain(h.app.engines.HubConn(), id)
	if err != nil {
		logger.Error("the ingest node cannot be asked", "error", err) // its id was checked
		return
	}
	ctx, end := context.WithCancel(ctx)
	l := lane{end, &sync.WaitGroup{}}
	h.lanes[id] = l
	logger.Info("an ingest node has come")
	drain := eventlog.NewDrain(eventlog.DrainConfig{
		Log: h.app.stream(), JetStream: js, Stream: migrations.SpoolStream, Name: leafMark + id, Kept: h.kept, Reader: leafReader,
		Take: eventlog.TakeBlocks(h.app.options.Now), Logger: logger,
		Skipped: h.app.strays.In("log"),
		Took:    func(fresh, repeated int, pending uint64) { h.metrics.took(id, fresh, repeated, pending) },
	})
	l.done.Go(func() { drain.Run(ctx) })
	l.done.Go(func() { h.copyKeys(ctx, js) })
}

// copyKeys keeps the node's keys those of the hub until ctx ends.
func (h *hub) copyKeys(ctx context.Context, js jetstream.JetStream) {
	for {
		to, err := js.KeyValue(ctx, migrations.KeysBucket(""))
		if err == nil {
			err = access.CopyKeys(ctx, h.keys, to)
		}
		if ctx.Err() != nil {
			return
		}
		h.app.logger.Debug("the keys of an ingest node could not be kept up to date", "error", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(leafLook):
		}
	}
}

func (h *hub) finish(id string) {
	l := h.lanes[id]
	delete(h.lanes, id)
	l.end()
	l.done.Wait()
	h.metrics.pending.DeleteLabelValues(id)
	h.app.logger.Info("an ingest node has gone", "leaf", id)
}

// leafMetrics are what the hub counts of its nodes.
type leafMetrics struct {
	connected       prometheus.Gauge
	blocks, repeats prometheus.Counter
	pending         *prometheus.GaugeVec
}

func newLeafMetrics() leafMetrics {
	return leafMetrics{
		connected: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "errata_leaves_connected", Help: "Ingest nodes that are connected to this hub."}),
		blocks: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "errata_leaf_blocks_total", Help: "Blocks of events that ingest nodes had taken and that are on the log now."}),
		repeats: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "errata_leaf_repeated_total", Help: "Blocks of ingest nodes that came again after they were on the log."}),
		pending: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "errata_leaf_pending_blocks", Help: "Blocks that wait on an ingest node, when the last one was taken."}, []string{"leaf"}),
	}
}

func (m leafMetrics) register(r prometheus.Registerer) error {
	for _, c := range []prometheus.Collector{m.connected, m.blocks, m.repeats, m.pending} {
		if err := r.Register(c); err != nil {
			return fmt.Errorf("register metrics of ingest nodes: %w", err)
		}
	}
	return nil
}

func (m leafMetrics) took(id string, fresh, repeated int, pending uint64) {
	m.blocks.Add(float64(fresh))
	m.repeats.Add(float64(repeated))
	m.pending.WithLabelValues(id).Set(float64(pending))
}
