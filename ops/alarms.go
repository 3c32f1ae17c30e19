package ops

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
)

// Alarms are those that stand at the moment. It is safe for concurrent use.
type Alarms struct {
	now    func() time.Time
	logger *slog.Logger
	gauge  *prometheus.GaugeVec

	mu       sync.Mutex
	standing map[string]errata.Alarm
}

// NewAlarms makes a board without alarms. A nil registerer keeps no metrics, a
// nil logger writes none, a nil now is the system's clock.
func NewAlarms(registerer prometheus.Registerer, now func() time.Time, logger *slog.Logger) (*Alarms, error) {
	if now == nil {
		now = time.Now
	}
	logger = cmp.Or(logger, slog.New(slog.DiscardHandler))
	a := &Alarms{now: now, logger: logger, standing: map[string]errata.Alarm{}, gauge: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "errata_alarm",
		Help: "1 for each alarm that stands: something is wrong with the data or a part does not work. errata doctor says what to do.",
	}, []string{"name"})}
	if registerer == nil {
		return a, nil
	}
	if err := registerer.Register(a.gauge); err != nil {
		return nil, errors.Join(errors.New("register the metric of alarms"), err)
	}
	return a, nil
}

// Raise raises the alarm of the name. One that stands already gets the new
// detail and hint and keeps the time since when it stands.
func (a *Alarms) Raise(name, detail, hint string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	raised := errata.Alarm{Name: name, Detail: detail, Hint: hint, Since: errata.Instant(a.now())}
	if before, stands := a.standing[name]; stands {
		raised.Since = before.Since
		if raised == before {
			return
		}
	}
	a.standing[name] = raised
	a.gauge.WithLabelValues(name).Set(1)
	a.logger.Error("alarm", "name", name, "detail", detail, "hint", hint)
}

// Clear ends the alarm of the name, if it stands.
func (a *Alarms) Clear(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ended, stands := a.standing[name]
	if !stands {
		return
	}
	delete(a.standing, name)
	a.gauge.DeleteLabelValues(name)
	a.logger.Info("alarm is over", "name", name, "stood", a.now().Sub(time.Time(ended.Since)))
}

// List is the alarms that stand, by name.
func (a *Alarms) List() []errata.Alarm {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.SortedFunc(maps.Values(a.standing), func(x, y errata.Alarm) int { return cmp.Compare(x.Name, y.Name) })
}

// Checks has a failed check for each alarm that stands.
func (a *Alarms) Checks() (checks []errata.Check) {
	for _, alarm := range a.List() {
		checks = append(checks, errata.Check{
			Name: alarm.Name, Detail: fmt.Sprintf("since %s: %s", time.Time(alarm.Since).UTC().Format(time.RFC3339), alarm.Detail), Hint: alarm.Hint,
		})
	}
	return checks
}
