package query

import (
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// wholeDays are the days in UTC that lie in the filter's range of times from end to
// end: those from first on and before after, both midnights, zero for an open end. ok
// is false if there are none, or no range.
func (f Filter) wholeDays() (first, after time.Time, ok bool) {
	if !f.From.IsZero() {
		from := clamped(f.From)
		if first = from.Truncate(day); first.Before(from) {
			first = first.Add(day)
		}
		if first.After(lastStorable) {
			return time.Time{}, time.Time{}, false
		}
	}
	if !f.To.IsZero() {
		after = clamped(f.To).Add(time.Millisecond).Truncate(day)
	}
	switch {
	case first.IsZero() && after.IsZero(), !first.IsZero() && !after.IsZero() && !first.Before(after):
		return time.Time{}, time.Time{}, false
	}
	return first, after, true
}

// countedByDay says that the projection by_day has what the filter asks for, all but
// the hours.
func (f Filter) countedByDay() bool {
	_, _, ok := f.wholeDays()
	f.From, f.To = time.Time{}, time.Time{}
	f.Books, f.Levels, f.Statuses = nil, nil, nil
	return ok && len(f.fragments()) == 0
}

// totalByDay counts whole days in by_day and what is left at both ends in by_time;
// only if [Filter.countedByDay].
func totalByDay(f Filter) (statement, error) {
	first, after, _ := f.wholeDays()
	var days, edges []fragment
	if !first.IsZero() {
		days = append(days, fragment{name: "days_from", args: []any{bind("first_day", first.UnixMilli())}})
		if from := storable(f.From); from < first.UnixMilli() {
			edges = append(edges, fragment{name: "edge_from", args: []any{bind("from", from)}})
		}
	}
	if !after.IsZero() {
		days = append(days, fragment{name: "days_before", args: []any{bind("after_days", after.UnixMilli())}})
		if to := storable(f.To); to >= after.UnixMilli() {
			edges = append(edges, fragment{name: "edge_to", args: []any{bind("to", to)}})
		}
	}
	whole, args, err := renderAll(days)
	if err != nil {
		return statement{}, err
	}
	rest, more, err := renderAll(edges)
	if err != nil {
		return statement{}, err
	}
	data := statementData{Parts: append([]string{strings.Join(whole, "\n        AND ")}, rest...)}
	f.From, f.To = time.Time{}, time.Time{}
	settings := clickhouse.Settings{
		"max_threads": 2, "optimize_use_projections": 1,
		// Without it a record that is counted meanwhile could be in both parts or in none.
		"enable_shared_storage_snapshot_in_query": 1,
	}
	return build("total_by_day.sql", data, f.fragments(), settings, append(args, more...)...)
}
