package app

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/errata-log/errata/eventlog"
)

// logSize tells the size of the log and its limit whenever somebody looks.
type logSize struct {
	log          func(context.Context) (eventlog.State, error)
	bytes, limit *prometheus.Desc
}

func newLogSize(log func(context.Context) (eventlog.State, error)) *logSize {
	return &logSize{log: log,
		bytes: prometheus.NewDesc("errata_log_bytes", "Bytes that the log has on disk.", nil, nil),
		limit: prometheus.NewDesc("errata_log_max_bytes", "Bytes that the log may have; then events are refused.", nil, nil),
	}
}

// Describe names the two metrics.
func (l *logSize) Describe(out chan<- *prometheus.Desc) {
	out <- l.bytes
	out <- l.limit
}

// Collect asks the log. Nothing is told while it does not answer: a wrong
// number would be worse.
func (l *logSize) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	state, err := l.log(ctx)
	if err != nil {
		return
	}
	out <- prometheus.MustNewConstMetric(l.bytes, prometheus.GaugeValue, float64(state.Bytes))
	if state.MaxBytes > 0 {
		out <- prometheus.MustNewConstMetric(l.limit, prometheus.GaugeValue, float64(state.MaxBytes))
	}
}

// registerProcess adds what every Go process tells: memory, goroutines, files.
func registerProcess(r prometheus.Registerer) error {
	for _, c := range []prometheus.Collector{
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		if err := r.Register(c); err != nil {
			return err
		}
	}
	return nil
}

// countPolicyReports registers a counter for what browsers report that the
// policy of the page refused.
func countPolicyReports(r prometheus.Registerer) (count func(n int), err error) {
	reports := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "errata_csp_reports_total", Help: "Breaches of the page's Content-Security-Policy, as browsers report them."})
	if err := r.Register(reports); err != nil {
		return nil, fmt.Errorf("register metrics of the page: %w", err)
	}
	return func(n int) { reports.Add(float64(n)) }, nil
}
