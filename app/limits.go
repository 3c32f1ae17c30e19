package app

import (
	"context"
	"fmt"

	"github.com/errata-log/errata/ingest/quota"
	"github.com/errata-log/errata/settings"
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
		{"new-records-per-hour", o.NewRecordsPerHour},
	} {
		if limit.n < 0 {
			return fmt.Errorf("%s: %d is negative; 0 switches the limit off", limit.name, limit.n)
		}
	}
	return nil
}

// defaultNewRecordsPerHour is what no application has that people could still
// read: a new problem every third of a second, for an hour.
const defaultNewRecordsPerHour = 10_000

// setLimits puts the limits that a replay must know on the log, unless they stand
// there. A log that takes nothing is no reason not to start: those that stand
// there stay in force, and the next start tries again.
func (a *App) setLimits(ctx context.Context) error {
	err := a.settings.SetLimits(ctx, settings.Limits{NewRecordsPerHour: uint64(a.options.NewRecordsPerHour)})
	if err != nil {
		a.logger.Warn("new-records-per-hour could not be put on the log; the value before stays in force until the next start",
			"value", a.options.NewRecordsPerHour, "error", err)
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
