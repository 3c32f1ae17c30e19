package ingest

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	accepted, dropped *prometheus.CounterVec
}

func newMetrics(r prometheus.Registerer) metrics {
	m := metrics{
		accepted: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "errata_events_accepted_total", Help: "Events on disk, by the way they came in."}, []string{"source"}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "errata_events_dropped_total", Help: "Events not taken, by reason; their senders were told."}, []string{"reason"}),
	}
	if r != nil {
		r.MustRegister(m.accepted, m.dropped)
	}
	return m
}
