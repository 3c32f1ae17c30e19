package legacy

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/eventlog"
)

// metrics count what was imported.
type metrics struct{ lines, events, unreadable prometheus.Counter }

func newMetrics(r prometheus.Registerer) (metrics, error) {
	m := metrics{
		lines: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "errata_import_lines_total", Help: "Lines of old error files that were read."}),
		events: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "errata_import_events_total", Help: "Events of old error files that are on disk."}),
		unreadable: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "errata_import_unreadable_total", Help: "Lines and entries of old error files that could not be read."}),
	}
	if r == nil {
		return m, nil
	}
	if err := errors.Join(r.Register(m.lines), r.Register(m.events), r.Register(m.unreadable)); err != nil {
		return m, fmt.Errorf("register metrics of the import: %w", err)
	}
	return m, nil
}

func (m metrics) add(before, after eventlog.ImportMark) {
	m.lines.Add(float64(after.Lines - before.Lines))
	m.events.Add(float64(after.Events - before.Events))
	m.unreadable.Add(float64(after.Unreadable - before.Unreadable))
}
