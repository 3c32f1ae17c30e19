package api

import (
	"context"
	"net/http"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ops"
)

// Health says how the service is.
type Health interface {
	// Ready is nil when events are taken and records are read. The message of
	// an *errata.Error is shown to strangers, any other error only logged.
	Ready(ctx context.Context) error
	// Status looks at everything that an operator would look at.
	Status(ctx context.Context) ops.Status
	// Alarms are those that stand.
	Alarms() []errata.Alarm
}

// links lists the paths with which a program begins.
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
	return answer{data: map[string]any{"pong": true, "version": s.Version, "time": errata.Instant(s.Now())}}, nil
}

// healthz says only that the process is alive: to restart it because a store is
// away would make things worse.
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
	return answer{data: s.Health.Status(c.Request.Context())}, nil
}
