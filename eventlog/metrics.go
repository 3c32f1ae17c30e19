package eventlog

import "github.com/prometheus/client_golang/prometheus"

type appenderMetrics struct {
	events, blocks, bytes, spooled prometheus.Counter
	failures                       *prometheus.CounterVec
}

func newAppenderMetrics(r prometheus.Registerer) appenderMetrics {
	m := appenderMetrics{
		events: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "errata_log_events_appended_total", Help: "Events that the log confirmed to be on disk."}),
		blocks: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "errata_log_blocks_appended_total", Help: "Blocks that the log confirmed to be on disk; each cost one fsync."}),
		bytes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "errata_log_block_bytes_total", Help: "Compressed bytes of the blocks appended."}),
		spooled: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "errata_log_blocks_spooled_total", Help: "Blocks that this node of a cluster kept on its own disk because the log had no leader."}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "errata_log_append_failures_total", Help: "Tries to append a block that failed, by outcome: retry or full."}, []string{"outcome"}),
	}
	if r != nil {
		r.MustRegister(m.events, m.blocks, m.bytes, m.spooled, m.failures)
	}
	return m
}
