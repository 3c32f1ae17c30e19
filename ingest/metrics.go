package ingest

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics count the drafts, by their result.
type metrics struct {
	accepted, dropped, adjusted *prometheus.CounterVec
}

func newMetrics(r prometheus.Registerer) (metrics, error) {
	m := metrics{
		accepted: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "errata_events_accepted_total", Help: "Events on disk, by the way they came in."}, []string{"source"}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "errata_events_dropped_total", Help: "Events not kept, by reason; their senders were told."}, []string{"reason"}),
		adjusted: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "errata_events_adjusted_total", Help: "Events on disk that got the time of receipt in the place of their own, by reason."}, []string{"reason"}),
	}
	if r == nil {
		return m, nil
	}
	if err := errors.Join(r.Register(m.accepted), r.Register(m.dropped), r.Register(m.adjusted)); err != nil {
		return m, fmt.Errorf("register metrics of ingest: %w", err)
	}
	return m, nil
}
