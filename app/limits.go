package app

import (
	"context"
	"fmt"

	"github.com/errata-log/errata/ingest/quota"
)

// validateLimits names the first of the limits that cannot be used.
func (o Options) validateLimits() error {
	for _, limit := range []struct {
		name string
		n    int
	}{
		{"admin-rate-limit", o.AdminRateLimit},
		{"key-events-per-minute", o.KeyEventsPerMinute},
		{"project-events-per-minute", o.ProjectEventsPerMinute},
	} {
		if limit.n < 0 {
			return fmt.Errorf("%s: %d is negative; 0 switches the limit off", limit.name, limit.n)
		}
	}
	return nil
}

// openQuotas makes the buckets that all ways in share.
func (a *App) openQuotas(context.Context) (err error) {
	a.quotas, err = quota.New(quota.Config{
		KeyPerMinute: a.options.KeyEventsPerMinute, ProjectPerMinute: a.options.ProjectEventsPerMinute,
		Now: a.options.Now, Registerer: a.options.Registry,
	})
	return err
}
