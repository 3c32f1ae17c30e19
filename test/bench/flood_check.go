package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// overflowMost is how many overflow records a project may get: one for each of a
// hundred classes in an hour, and the one that all further classes share.
const overflowMost = 100

// holding is what a project has.
type holding struct{ records, overflow, events int64 }

// checkFlood compares what both projects have with what was answered 2xx, and the
// records of the flooding project with the budget of the hours that it took.
func (b *bench) checkFlood(ctx context.Context, f *flooded, budget int, began time.Time) (string, error) {
	if err := b.caughtUp(ctx); err != nil { // with the last events of the second project
		return "", err
	}
	first, err := b.holding(ctx, floodingProject)
	if err != nil {
		return "", err
	}
	second, err := b.holding(ctx, f.beside.project)
	if err != nil {
		return "", err
	}
	if taken := f.taken.Load(); first.events != taken {
		return "", fmt.Errorf("the flooding project has %d events, and %d were answered 2xx", first.events, taken)
	}
	if second.events != f.beside.taken {
		return "", fmt.Errorf("the second project has %d events, and %d were answered 2xx", second.events, f.beside.taken)
	}
	found := fmt.Sprintf("%d records, %d of them overflow; the second project has %d; counts exact (%d and %d)",
		first.records, first.overflow, second.records, first.events, second.events)
	if budget == 0 {
		if first.records != f.taken.Load() {
			return "", fmt.Errorf("the flooding project has %d records of %d problems", first.records, f.taken.Load())
		}
		return found, nil
	}
	hours := int64(time.Now().Truncate(time.Hour).Sub(began.Truncate(time.Hour))/time.Hour) + 1
	if most := hours * int64(budget); first.records-first.overflow > most || first.overflow > hours*overflowMost+1 {
		return "", fmt.Errorf("the flooding project has %d records, %d of them overflow, with a budget of %d in %d hours", first.records, first.overflow, budget, hours)
	}
	return found, nil
}

// holding counts by the list: all records, and the counts of those above one.
func (b *bench) holding(ctx context.Context, project uint64) (h holding, err error) {
	of := url.Values{"project": {strconv.FormatUint(project, 10)}}
	records, err := b.count(ctx, of.Encode())
	if err != nil {
		return h, err
	}
	h.records, h.events = int64(records), int64(records)
	of.Set("min_occurrence", "2")
	of.Set("limit", "100")
	for page := 1; page > 0; {
		of.Set("page", strconv.Itoa(page))
		var answer struct {
			Data []struct{ Count int64 }
			Meta struct {
				NextPage int `json:"next_page"`
			}
		}
		if err := b.admin(ctx, http.MethodGet, errorsPath+"?"+of.Encode(), nil, &answer); err != nil {
			return h, err
		}
		for _, r := range answer.Data {
			h.events += r.Count - 1
		}
		page = answer.Meta.NextPage
	}
	overflow, err := b.count(ctx, url.Values{"project": {strconv.FormatUint(project, 10)}, "search": {"counted together: the project"}}.Encode())
	h.overflow = int64(overflow)
	return h, err
}
