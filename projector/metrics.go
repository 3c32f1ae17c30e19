package projector

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	folded, overflowed, duplicates, poison, lookups, retries, records prometheus.Counter
	checkpoint, pending                                               prometheus.Gauge
	insert                                                            prometheus.Histogram
	tidies                                                            *prometheus.CounterVec
	parts                                                             *prometheus.GaugeVec
}

// newMetrics registers the metrics. lag is called at every scrape, because it grows
// while nothing happens.
func newMetrics(r prometheus.Registerer, lag func() float64) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	m := &metrics{
		folded:     counter("errata_events_folded_total", "Events counted into records."),
		overflowed: counter("errata_events_overflow_total", "Events of new problems that are counted in overflow records, because their project's new records of the hour are spent."),
		duplicates: counter("errata_events_duplicate_total", "Events recognised as repeats of an event id and not counted."),
		poison:     counter("errata_blocks_unreadable_total", "Blocks of the log that could not be read and were left out."),
		lookups:    counter("errata_projector_lookups_total", "Records looked up in ClickHouse because they were not cached."),
		retries:    counter("errata_projector_insert_retries_total", "Inserts tried again after an error."),
		records:    counter("errata_projector_records_written_total", "Record states written."),
		checkpoint: gauge("errata_projector_checkpoint", "Sequence of the last fact that is visible."),
		pending:    gauge("errata_projector_pending_facts", "Facts on the log behind the last one read."),
		insert: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "errata_projector_insert_seconds", Help: "Time to commit one batch: look-up, inserts, confirmation.",
			Buckets: prometheus.ExponentialBuckets(0.005, 2, 12)}),
		tidies: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "errata_projection_tidies_total", Help: "Tables merged into one part."}, []string{"table"}),
		parts: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "errata_projection_parts", Help: "Active parts of a table; every look-up reads each."}, []string{"table"}),
	}
	if r != nil {
		r.MustRegister(m.folded, m.overflowed, m.duplicates, m.poison, m.lookups, m.retries, m.records, m.checkpoint, m.pending, m.insert, m.tidies, m.parts,
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "errata_projector_lag_seconds", Help: "How long the oldest fact that is not visible has waited."}, lag))
	}
	return m
}

func (m *metrics) committed(f *folded, work *commit, took time.Duration) {
	m.folded.Add(float64(f.events))
	m.overflowed.Add(float64(f.overflowed))
	m.duplicates.Add(float64(f.duplicates))
	m.poison.Add(float64(f.poison))
	m.records.Add(float64(len(work.changes)))
	m.checkpoint.Set(float64(work.to.Sequence))
	m.insert.Observe(took.Seconds())
}
