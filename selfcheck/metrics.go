package selfcheck

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	seconds prometheus.Histogram
	damage  prometheus.Gauge
	bytes   prometheus.Counter
	mends   *prometheus.CounterVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "errata_selfcheck_seconds", Help: "Time of one look: whether log and tables agree and the parts are whole.",
			Buckets: prometheus.ExponentialBuckets(0.01, 4, 8)}),
		damage: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "errata_selfcheck_damage", Help: "How many damaged parts and wrong tables the last self-check found; 0 when all is well."}),
		bytes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "errata_selfcheck_bytes_total", Help: "Bytes of the tables that were compared with their checksums."}),
		mends: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "errata_selfcheck_mends_total", Help: "Automatic repairs, by outcome: done, failed, or aside for a part that ClickHouse has set aside: other parts have its rows, or they are made again from the log."}, []string{"outcome"}),
	}
	if r != nil {
		r.MustRegister(m.seconds, m.damage, m.bytes, m.mends)
	}
	return m
}

func (m *metrics) looked(r Result) {
	m.seconds.Observe(r.Took.Seconds())
	m.bytes.Add(float64(r.Bytes))
	if r.Err == nil {
		m.damage.Set(float64(len(r.Damage)))
	}
}
