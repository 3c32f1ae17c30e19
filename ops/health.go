package ops

import (
	"context"
	"strings"

	errata "github.com/errata-log/errata"
)

// HealthConfig says who is asked how the service is.
type HealthConfig struct {
	// Ready are asked in this order whether the service is ready. It is when all
	// answer nil and no alarm stands.
	//
	// A load balancer for events should ask /healthz instead: events are safe
	// while ClickHouse is away. A projector that catches up after an outage is
	// ready.
	Ready []func(context.Context) error
	// Engines are checked first, then Checks in this order, then the alarms.
	Engines func(context.Context) []errata.Check
	Checks  []func(context.Context) errata.Check
	// Figures measures; nil: there are none.
	Figures *Meter
	// Nodes are those of the cluster; nil: there is none.
	Nodes  func(context.Context) []errata.Node
	Alarms *Alarms
}

// Health says how the service is.
type Health struct{ cfg HealthConfig }

// NewHealth asks nobody yet.
func NewHealth(cfg HealthConfig) *Health { return &Health{cfg} }

// Ready is nil when the service is ready, else the error of the first that is
// not. It takes at most twice [ProbeTimeout]. Kinds: those of the config, and
// degraded while an alarm stands.
func (h *Health) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*ProbeTimeout)
	defer cancel()
	for _, ready := range h.cfg.Ready {
		if err := ready(ctx); err != nil {
			return err
		}
	}
	var names []string
	for _, alarm := range h.Alarms() {
		names = append(names, alarm.Name)
	}
	if len(names) > 0 { // strangers read this, so it says no more
		return errata.Errorf(errata.KindDegraded,
			"Events are taken and records can be read, but an alarm stands: %s. errata doctor says what to do.", strings.Join(names, ", "))
	}
	return nil
}

// Alarms are those that stand, by name.
func (h *Health) Alarms() []errata.Alarm { return h.cfg.Alarms.List() }

// Status is all that an operator would look at.
type Status struct {
	Checks  []errata.Check `json:"checks"`
	Figures Figures        `json:"figures"`
	// Nodes are those of the cluster, absent outside of one.
	Nodes []errata.Node `json:"nodes,omitempty"`
	// OK says that every check is OK.
	OK bool `json:"ok"`
}

// Status runs all checks and takes the figures.
func (h *Health) Status(ctx context.Context) Status {
	checks := append([]errata.Check{}, h.cfg.Engines(ctx)...)
	for _, check := range h.cfg.Checks {
		checks = append(checks, check(ctx))
	}
	s := Status{Checks: append(checks, h.cfg.Alarms.Checks()...), OK: true}
	for _, c := range s.Checks {
		s.OK = s.OK && c.OK
	}
	if h.cfg.Nodes != nil {
		s.Nodes = h.cfg.Nodes(ctx)
	}
	if h.cfg.Figures != nil {
		s.Figures = h.cfg.Figures.Read(ctx)
	}
	return s
}
