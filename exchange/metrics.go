package exchange

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/ingest/door"
)

// The outcomes of an entry in the metric.
const (
	outcomeRecorded    = "recorded"
	outcomeSwitchedOff = "switched_off"
	outcomeAddress     = "address" // query logging is limited to other addresses
	outcomeRejected    = "rejected"
)

// newEntries is the counter that the handlers of both logs share.
func newEntries(r prometheus.Registerer) (*prometheus.CounterVec, error) {
	return door.Register(r, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "errata_exchange_entries_total",
		Help: "Entries sent to the module and query logs, by log and by what became of them.",
	}, []string{"log", "outcome"}))
}

// writerMetrics show the progress of the writer.
type writerMetrics struct {
	written, poison, retries *prometheus.CounterVec
	pending                  *prometheus.GaugeVec
}

// newWriterMetrics registers the metrics. lag, in seconds, is called at every
// scrape, because the lag grows while nothing happens.
func newWriterMetrics(r prometheus.Registerer, lag func(Log) float64) *writerMetrics {
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{"log"})
	}
	m := &writerMetrics{
		written: counter("errata_exchange_written_total", "Entries of the module and query logs written to ClickHouse."),
		poison:  counter("errata_exchange_unreadable_total", "Messages of the module and query logs that could not be read and were left out."),
		retries: counter("errata_exchange_insert_retries_total", "Inserts into the module and query logs tried again after an error."),
		pending: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "errata_exchange_pending_messages", Help: "Requests on the stream behind the last one read."}, []string{"log"}),
	}
	if r == nil {
		return m
	}
	r.MustRegister(m.written, m.poison, m.retries, m.pending)
	for _, log := range logs {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name:        "errata_exchange_lag_seconds",
			Help:        "How long the oldest entry that was read and is not in ClickHouse has waited.",
			ConstLabels: prometheus.Labels{"log": log.String()},
		}, func() float64 { return lag(log) }))
	}
	return m
}
