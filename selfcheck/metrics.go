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
			Name: "errata_selfcheck_seconds", Help: "Time to ask once whether log and tables agree and the parts are whole.",
			Buckets: prometheus.ExponentialBuckets(0.01, 4, 8)}),
		damage: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "errata_selfcheck_damage", Help: "What the last self-check found that is not as it was written; 0 when all is well."}),
		bytes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "errata_selfcheck_bytes_total", Help: "Bytes of the tables that were held against their checksums."}),
		mends: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "errata_selfcheck_mends_total", Help: "Mends without a hand, by outcome: done, failed, or aside for a part that ClickHouse has set aside and the log gives again."}, []string{"outcome"}),
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
