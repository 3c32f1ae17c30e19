package leaf

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics count the blocks of the nodes.
type metrics struct {
	connected       prometheus.Gauge
	blocks, repeats prometheus.Counter
	pending         *prometheus.GaugeVec
}

func newMetrics(r prometheus.Registerer) (metrics, error) {
	m := metrics{
		connected: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "errata_leaves_connected", Help: "Ingest nodes that are connected to this hub."}),
		blocks: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "errata_leaf_blocks_total", Help: "Blocks of events that ingest nodes had taken and that are on the log now."}),
		repeats: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "errata_leaf_repeated_total", Help: "Blocks of ingest nodes that came again after they were on the log."}),
		pending: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "errata_leaf_pending_blocks", Help: "Blocks that wait on an ingest node, when the last one was taken."}, []string{"leaf"}),
	}
	if r == nil {
		return m, nil
	}
	if err := errors.Join(r.Register(m.connected), r.Register(m.blocks), r.Register(m.repeats), r.Register(m.pending)); err != nil {
		return m, fmt.Errorf("register metrics of ingest nodes: %w", err)
	}
	return m, nil
}
