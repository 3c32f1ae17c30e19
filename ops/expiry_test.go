package ops_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ops"
	"github.com/errata-log/errata/query"
)

// TestExpiry: each project's records go after its own days, at the end of a day, once;
// and nothing is written where nothing is due.
func TestExpiry(t *testing.T) {
	now := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	lastSeen := map[uint64][]time.Time{ // by project
		1: {now.AddDate(0, 0, -400)},
		2: {now.AddDate(0, 0, -31), now.AddDate(0, 0, -30).Add(-time.Millisecond), now.AddDate(0, 0, -30), now},
		3: {now.AddDate(0, 0, -6)},
		4: {now.AddDate(0, 0, -9)},
	}
	cleanups := map[uint64]time.Time{}
	away := errors.New("away")
	expiry := ops.NewExpiry(ops.ExpiryConfig{
		Days: func() map[uint64]int { return map[uint64]int{2: 30, 3: 7, 4: 7} },
		Count: func(_ context.Context, before time.Time, among query.Projects) (found errata.Changed, err error) {
			if among.Has(4) {
				return found, away
			}
			for project, times := range lastSeen {
				for _, at := range times {
					if among.Has(project) && !at.After(before) {
						found.System++
					}
				}
			}
			return found, nil
		},
		Cleanup: func(_ context.Context, projects []uint64, before time.Time) (removed errata.Changed, err error) {
			project := projects[0]
			if _, twice := cleanups[project]; twice {
				t.Errorf("project %d is cleaned up twice", project)
			}
			cleanups[project] = before
			left := []time.Time{}
			for _, at := range lastSeen[project] {
				if at.After(before) {
					left = append(left, at)
				}
			}
			lastSeen[project] = left
			return removed, nil
		},
		OccurrenceDays: func() map[uint64]int { return nil },
		Now:            func() time.Time { return now.Add(5 * time.Hour) }, Logger: slog.New(slog.DiscardHandler),
	})
	for range 3 {
		if err := expiry.Look(t.Context()); !errors.Is(err, away) {
			t.Errorf("the trouble of project 4 is told as %v", err)
		}
	}
	want := map[uint64]time.Time{2: now.AddDate(0, 0, -30).Add(-time.Millisecond)}
	if diff := cmp.Diff(want, maps.Clone(cleanups)); diff != "" {
		t.Errorf("cleanups (-want +got):\n%s", diff)
	}
	if left := len(lastSeen[2]); left != 2 {
		t.Errorf("%d records of project 2 are left, want those of the last 30 days", left)
	}
}

// TestOccurrencesExpire: projects that keep occurrences for the same number of days share
// one fact a day, and a project without old ones is not in it.
func TestOccurrencesExpire(t *testing.T) {
	now := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	type fact struct {
		Before   time.Time
		Projects string
	}
	var facts []fact
	due := map[uint64]bool{1: true, 2: true, 4: true, 5: true}
	away := errors.New("away")
	expiry := ops.NewExpiry(ops.ExpiryConfig{
		Days:           func() map[uint64]int { return nil },
		OccurrenceDays: func() map[uint64]int { return map[uint64]int{1: 30, 2: 30, 3: 30, 4: 7, 5: 90} },
		Due: func(_ context.Context, projects []uint64, _ time.Time) (found []uint64, err error) {
			for _, project := range projects {
				if due[project] {
					found = append(found, project)
				}
			}
			if slices.Contains(found, 5) {
				err = away
			}
			return found, err
		},
		Expire: func(_ context.Context, projects []uint64, before time.Time) error {
			facts = append(facts, fact{before, fmt.Sprint(projects)})
			for _, project := range projects {
				delete(due, project)
			}
			return nil
		},
		Now: func() time.Time { return now.Add(5 * time.Hour) }, Logger: slog.New(slog.DiscardHandler),
	})
	for range 3 {
		if err := expiry.Look(t.Context()); !errors.Is(err, away) {
			t.Errorf("the trouble of project 5 is told as %v", err)
		}
	}
	slices.SortFunc(facts, func(a, b fact) int { return a.Before.Compare(b.Before) })
	want := []fact{{now.AddDate(0, 0, -30), "[1 2]"}, {now.AddDate(0, 0, -7), "[4]"}}
	if diff := cmp.Diff(want, facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}
