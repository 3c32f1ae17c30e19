package natsin

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	taken, repeated prometheus.Counter
	dead            *prometheus.CounterVec
	pending         prometheus.Gauge
}

func newMetrics(r prometheus.Registerer, lag func() float64) (metrics, error) {
	m := metrics{
		taken: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "errata_nats_taken_total", Help: "Messages that applications published and that are done with: on the log, refused, or switched off."}),
		repeated: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "errata_nats_repeated_total", Help: "Messages that the queue delivered again after they were done with."}),
		dead: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "errata_nats_dead_total", Help: "Published messages that were refused for good, by reason."}, []string{"reason"}),
		pending: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "errata_nats_pending_messages", Help: "Published messages that wait to be taken, when the last one was."}),
	}
	if r == nil {
		return m, nil
	}
	err := errors.Join(r.Register(m.taken), r.Register(m.repeated), r.Register(m.dead), r.Register(m.pending),
		r.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "errata_nats_lag_seconds", Help: "How long the oldest published message that is being taken has waited."}, lag)))
	if err != nil {
		return m, fmt.Errorf("register metrics of the NATS way in: %w", err)
	}
	return m, nil
}
