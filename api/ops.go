package api

import (
	"context"
	"math"
	"net/http"
	"time"

	errata "github.com/errata-log/errata"
)

// Health knows how the service is.
type Health interface {
	// Ready is nil when events are taken and records are read. The message of
	// an *errata.Error is shown to strangers, any other error only logged.
	Ready(ctx context.Context) error
	// Checks looks at everything an operator would look at.
	Checks(ctx context.Context) []Check
	// Figures measures what an operator would measure.
	Figures(ctx context.Context) Figures
	// Alarms are those that stand.
	Alarms() []errata.Alarm
}

// Figures are measurements of the service. nil is what nobody could tell in
// time.
type Figures struct {
	// EventsPerSecond is what this node took over the last minute.
	EventsPerSecond float64
	// LagFacts is how many facts of the log are not in the records, each a block
	// of events or a command; Lag how long the oldest has waited.
	LagFacts *uint64
	Lag      time.Duration
	// LogBytes is the size of the log and LogMaxBytes its limit, nil for none.
	LogBytes, LogMaxBytes *uint64
	// DiskFree and DiskTotal are of the file system of the data folder, in bytes.
	DiskFree, DiskTotal *int64
	// ClickHouseBytes is what the tables have on disk.
	ClickHouseBytes *uint64
	// LostAtSenders counts the errors that senders told this node they dropped,
	// DroppedBySwitch the events that came while recording was off, RefusedByLimit
	// at least those that were refused because their key or project had sent too
	// many; since the start of the service.
	LostAtSenders, DroppedBySwitch, RefusedByLimit *uint64
}

type figuresJSON struct {
	EventsPerSecond float64 `json:"events_per_second"`
	LagFacts        *uint64 `json:"lag_facts"`
	LagMS           int64   `json:"lag_ms"`
	LogBytes        *uint64 `json:"log_bytes"`
	LogMaxBytes     *uint64 `json:"log_max_bytes"`
	DiskFree        *int64  `json:"disk_free_bytes"`
	DiskTotal       *int64  `json:"disk_total_bytes"`
	ClickHouseBytes *uint64 `json:"clickhouse_bytes"`
	LostAtSenders   *uint64 `json:"lost_at_senders"`
	DroppedBySwitch *uint64 `json:"dropped_by_switch"`
	RefusedByLimit  *uint64 `json:"refused_by_limit"`
}

func figuresOf(f Figures) figuresJSON {
	return figuresJSON{
		EventsPerSecond: math.Round(f.EventsPerSecond*100) / 100, LagFacts: f.LagFacts, LagMS: f.Lag.Milliseconds(),
		LogBytes: f.LogBytes, LogMaxBytes: f.LogMaxBytes, DiskFree: f.DiskFree, DiskTotal: f.DiskTotal,
		ClickHouseBytes: f.ClickHouseBytes, LostAtSenders: f.LostAtSenders, DroppedBySwitch: f.DroppedBySwitch,
		RefusedByLimit: f.RefusedByLimit,
	}
}

// Check is one thing that was looked at.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	// Hint says what to do; "" when there is nothing to do.
	Hint string `json:"hint,omitempty"`
}

// links is where a program begins.
func (s *service) links() (answer, error) {
	return answer{data: map[string]any{
		"name":    "Errata",
		"version": s.Version,
		"links": map[string]string{
			"docs":    "/api/v1/docs",
			"errors":  admin + "/tools/logs/errors",
			"health":  "/healthz",
			"metrics": "/metrics",
			"openapi": "/api/v1/openapi.json",
			"ping":    admin + "/ping",
			"ready":   "/readyz",
		},
	}}, nil
}

// file answers with a file as it is.
func file(f http.Handler) handler {
	return func(*call) (answer, error) { return answer{raw: f}, nil }
}

func (s *service) ping(*call) (answer, error) {
	return answer{data: map[string]any{"pong": true, "version": s.Version, "time": instant(s.Now())}}, nil
}

// healthz says that the process is alive and nothing else: whoever restarts
// it because of a store that is away makes things worse.
func (s *service) healthz(*call) (answer, error) {
	return answer{data: map[string]string{"status": "ok"}}, nil
}

func (s *service) readyz(c *call) (answer, error) {
	if err := s.Health.Ready(c.Request.Context()); err != nil {
		if errata.KindOf(err) == errata.KindInternal {
			err = errata.Errorf(errata.KindStoreUnavailable, "Errata is not ready; try again shortly.").Because(err)
		}
		return answer{}, err
	}
	return answer{data: map[string]string{"status": "ready"}}, nil
}

func (s *service) metrics(*call) (answer, error) {
	if s.Metrics == nil {
		return answer{}, errata.Errorf(errata.KindNotFound, "This service keeps no metrics.")
	}
	return answer{raw: s.Metrics}, nil
}

// opsStatus answers 200 whatever the checks say: the question was answered.
func (s *service) opsStatus(c *call) (answer, error) {
	checks := s.Health.Checks(c.Request.Context())
	if checks == nil {
		checks = []Check{}
	}
	ok := true
	for _, check := range checks {
		ok = ok && check.OK
	}
	return answer{status: http.StatusOK, data: map[string]any{
		"ok": ok, "checks": checks, "figures": figuresOf(s.Health.Figures(c.Request.Context())),
	}}, nil
}
