package app

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// registerMetrics adds the size of the log, what every Go process tells (memory,
// goroutines, files), and more.
func (a *App) registerMetrics(more ...prometheus.Collector) error {
	for _, c := range append(more, a.log,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})) {
		if err := a.options.Registry.Register(c); err != nil {
			return fmt.Errorf("register metrics: %w", err)
		}
	}
	return nil
}
