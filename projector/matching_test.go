package projector_test

import (
	"maps"
	"slices"
	"strings"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/query"
)

// matching removes the records that match a filter, or moves them.
func (h *history) matching() {
	level := errata.Level(1 + h.random.IntN(7))
	filters := []struct {
		filter  query.Filter
		matches func(r errata.Record) bool
	}{
		{query.Filter{Levels: []errata.Level{level}}, func(r errata.Record) bool { return r.Level == level }},
		{query.Filter{MinOccurrence: 4}, func(r errata.Record) bool { return r.Count >= 4 }},
		{query.Filter{Statuses: []errata.Status{errata.StatusResolved}, Books: []errata.Book{errata.BookSystem}}, func(r errata.Record) bool {
			return r.Status == errata.StatusResolved && r.Book == errata.BookSystem
		}},
		{query.Filter{Message: "PROBLEM 1*"}, func(r errata.Record) bool { return strings.Contains(r.Message, "problem 1") }},
		{query.Filter{Environments: query.Names{"prod"}}, func(r errata.Record) bool { return slices.Contains(r.Environments, "prod") }},
		{query.Filter{Search: "nobody has seen this"}, func(errata.Record) bool { return false }},
	}
	f := filters[h.random.IntN(len(filters))]
	stored, err := query.EncodeFilter(f.filter)
	if err != nil {
		h.t.Fatal(err)
	}
	status := []errata.Status{"", errata.StatusOpen, errata.StatusResolved, errata.StatusMuted}[h.random.IntN(4)]
	name, within := h.within(eventlog.CommandMatching, eventlog.CommandMatching)
	h.command(name, eventlog.Matching{Filter: stored, Status: status, Within: within}, func(r errata.Record, at errata.Position) (errata.Record, bool, bool) {
		meant := f.matches(r) && means(within, r)
		if meant && status != "" {
			r.Status, r.Regressed, r.Version = status, false, at
		}
		return r, meant, status != ""
	})
}

func (h *history) cleanup() {
	if h.random.IntN(4) == 0 {
		h.expire()
		return
	}
	before := h.now.Add(-time.Duration(h.random.IntN(45*24*60)) * time.Minute).UnixMilli()
	name, within := h.within(eventlog.CommandCleanup, eventlog.CommandCleanupIn)
	h.command(name, eventlog.Cleanup{Before: before, Within: within}, func(r errata.Record, _ errata.Position) (errata.Record, bool, bool) {
		return r, r.LastSeen.UnixMilli() <= before && means(within, r), false
	})
}

// expire removes the occurrences of some projects, or none because they are too young.
func (h *history) expire() {
	before := h.now.Add(time.Duration(h.random.IntN(3)) * time.Millisecond)
	projects := [][]uint64{{1}, {2, 99}, {1, 2, 3}}[h.random.IntN(3)]
	body := eventlog.Expire{Before: before.UnixMilli(), Within: eventlog.Within{Projects: projects}}
	at := h.command(eventlog.CommandExpire, body, func(r errata.Record, _ errata.Position) (errata.Record, bool, bool) { return r, false, true })
	maps.DeleteFunc(h.occurred, func(_ errata.Position, row projector.OccurrenceRow) bool {
		return row.Position < at && row.ReceivedMillis < before.UnixMilli() && slices.Contains(projects, row.Project)
	})
}
