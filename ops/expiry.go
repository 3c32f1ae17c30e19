package ops

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/query"
)

// expiryPause is how often the records are looked at. They go by whole days, so most
// looks find nothing; an hour keeps the first one after midnight, UTC, short.
const expiryPause = time.Hour

// ExpiryConfig says which records and occurrences go. All fields are required.
type ExpiryConfig struct {
	// Days is for how many days each project keeps a record that is not seen any more.
	// Projects that keep them for ever are not in it.
	Days func() map[uint64]int
	// Count counts what a cleanup would remove.
	Count func(ctx context.Context, before time.Time, among query.Projects) (errata.Changed, error)
	// Cleanup removes the projects' records last seen at before or earlier.
	Cleanup func(ctx context.Context, projects []uint64, before time.Time) (errata.Changed, error)

	// OccurrenceDays is for how many days each project keeps single occurrences.
	OccurrenceDays func() map[uint64]int
	// Due are those of the projects that have occurrences received before a time.
	Due func(ctx context.Context, projects []uint64, before time.Time) ([]uint64, error)
	// Expire removes the projects' occurrences received before the time.
	Expire func(ctx context.Context, projects []uint64, before time.Time) error

	Now    func() time.Time
	Logger *slog.Logger
}

// Expiry removes records that were not seen for as long as their project keeps them, and
// occurrences that are as old. It does so by facts on the log, like those of an
// administrator, so that a replay gives the same. A fact that would remove nothing is not
// written.
type Expiry struct {
	cfg  ExpiryConfig
	work background.Runner
}

// NewExpiry makes it; Start begins the work.
func NewExpiry(cfg ExpiryConfig) *Expiry { return &Expiry{cfg: cfg} }

// Start looks at once, and then every hour.
func (e *Expiry) Start() {
	e.work.Start(background.Loop{
		Do: e.Look, Every: expiryPause, Failed: background.Tell(e.cfg.Logger.Warn, "what a project keeps no longer could not be removed; it is tried again"),
	}.Run)
}

// Stop waits for a cleanup that is being sent, at most until ctx ends.
func (e *Expiry) Stop(ctx context.Context) error { return e.work.Stop(ctx) }

// Look removes what is due. One project's trouble does not keep the others' records.
func (e *Expiry) Look(ctx context.Context) error {
	var failed []error
	for project, days := range e.cfg.Days() {
		if err := e.expire(ctx, project, expiredAt(e.cfg.Now(), days)); err != nil {
			failed = append(failed, fmt.Errorf("project %d: %w", project, err))
		}
	}
	return errors.Join(append(failed, e.expireOccurrences(ctx))...)
}

// expireOccurrences removes those that are due, with one fact for all projects that keep
// them as long: the tables are looked through for each.
func (e *Expiry) expireOccurrences(ctx context.Context) error {
	keeping := map[int][]uint64{}
	for project, days := range e.cfg.OccurrenceDays() {
		keeping[days] = append(keeping[days], project)
	}
	var failed []error
	for days, projects := range keeping {
		slices.Sort(projects)
		before := firstKept(e.cfg.Now(), days)
		due, err := e.cfg.Due(ctx, projects, before)
		if err == nil && len(due) > 0 {
			if err = e.cfg.Expire(ctx, due, before); err == nil {
				e.cfg.Logger.Info("removed the occurrences that projects keep no longer",
					"projects", due, "received_before", errata.Instant(before).String())
			}
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("occurrences older than %d days: %w", days, err))
		}
	}
	return errors.Join(failed...)
}

func (e *Expiry) expire(ctx context.Context, project uint64, before time.Time) error {
	due, err := e.cfg.Count(ctx, before, query.OnlyProjects(project))
	if err != nil || due.Total() == 0 {
		return err
	}
	removed, err := e.cfg.Cleanup(ctx, []uint64{project}, before)
	if err != nil {
		return err
	}
	e.cfg.Logger.Info("removed the records that a project keeps no longer",
		"project", project, "last_seen", errata.Instant(before).String(), "records", removed.Total())
	return nil
}

// expiredAt is the last moment that is too long ago: the end of a day, in UTC, after
// which the whole number of days has passed. So a project has one cleanup a day.
func expiredAt(now time.Time, days int) time.Time {
	return firstKept(now, days).Add(-time.Millisecond)
}

// firstKept is the first moment that is not too long ago: the beginning of a day, in UTC.
func firstKept(now time.Time, days int) time.Time {
	return now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -days)
}
