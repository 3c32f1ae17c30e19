package outbox

import "github.com/prometheus/client_golang/prometheus"

// metrics count what this node does.
type metrics struct {
	messages prometheus.Counter
	ended    *prometheus.CounterVec // by state
}

// newMetrics registers the metrics. waiting is called at every scrape.
func newMetrics(r prometheus.Registerer, waiting func() float64) metrics {
	m := metrics{
		messages: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "errata_alerts_messages_total", Help: "Messages of alerts that this node has made, at most one for each rule and minute."}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "errata_alerts_deliveries_total", Help: "Deliveries of alerts that this node has ended, by state: sent or failed."}, []string{"state"}),
	}
	for _, state := range States[1:] { // waiting ones have a gauge
		m.ended.WithLabelValues(string(state)) // so that the first failure is a rise
	}
	if r != nil {
		r.MustRegister(m.messages, m.ended, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "errata_alerts_waiting", Help: "Deliveries of alerts that are to be sent, for the first time or again, by any node."}, waiting))
	}
	return m
}
