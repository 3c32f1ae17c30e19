package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
)

const (
	// PreviewDays is how far a preview of a rule looks back.
	PreviewDays = 7
	// maxPast bounds the events that a preview decides on. A rule that looks at more of them
	// in a week is told about a shorter time.
	maxPast = 300_000
	// shownFirings is how many firings a preview names.
	shownFirings = 5
)

// Preview is what a rule would have fired in the last days.
type Preview struct {
	// From and To bound the time that it is about; From is later than PreviewDays ago when
	// there were too many events.
	From, To time.Time
	Fired    uint64
	// Days is how often in each period of 24 hours up to To, the oldest first.
	Days [PreviewDays]uint64
	// Messages is how many messages would have told of it.
	Messages uint64
	// Latest are the last ones, the newest first, with their records. Those of projects
	// have none.
	Latest  []alerts.Firing
	Records map[errata.RecordKey]errata.Record
}

// Preview decides what the rule would have fired, over the occurrences that are kept.
// Records that are gone, muted or hidden now fire nothing, and nothing regresses: that was
// decided by commands. Minutes in which nobody listened are taken for quiet ones. gap is the least time between two messages. Errors:
// store_unavailable.
func (r *Reader) Preview(ctx context.Context, rule alerts.Rule, gap time.Duration) (Preview, error) {
	limited, stop := bounded(ctx, r.patience)
	defer stop()
	p := Preview{To: r.now().UTC()}
	p.From = p.To.AddDate(0, 0, -PreviewDays)
	var fired []alerts.Firing
	err := r.ready()
	if err == nil {
		fired, err = r.rehearse(limited, rule, &p)
	}
	var ofProjects []alerts.Firing
	if err == nil {
		ofProjects, err = r.rehearseProjects(limited, rule, p.To)
	}
	if err != nil {
		return Preview{}, r.explain(limited, "read what a rule would have fired", err)
	}
	return p, r.sumUp(ctx, &p, fired, ofProjects, gap)
}

// rehearse lets the rule decide on the events of the time.
func (r *Reader) rehearse(ctx context.Context, rule alerts.Rule, p *Preview) ([]alerts.Firing, error) {
	if !rule.When.OfRecords() {
		return nil, nil
	}
	q, err := pastStatement(rule, p.From)
	if err != nil {
		return nil, err
	}
	return alerts.Rehearse(rule, func(show func(*alerts.Past)) error {
		first, seen := int64(0), 0
		err := r.each(ctx, q, func(row driver.Rows) error {
			e, err := scanPast(row)
			if err != nil {
				return err
			}
			if seen++; seen == 1 {
				first = e.Received
			}
			show(&e)
			return nil
		})
		if seen == maxPast {
			p.From = time.UnixMilli(first).UTC()
		}
		return err
	})
}

// pastStatement reads the events that can fire the rule.
func pastStatement(rule alerts.Rule, since time.Time) (statement, error) {
	numbers, enough := []uint64{}, uint64(0)
	if rule.When.New {
		numbers = append(numbers, 1)
	}
	if rule.When.Reached != nil {
		numbers = append(numbers, rule.When.Reached.Count)
	}
	if rule.When.Frequency != nil {
		enough = rule.When.Frequency.Least()
	}
	return build("past_events.sql", statementData{}, nil, pastSettings(),
		append(ofRule(rule, since), bind("numbers", numbers), bind("enough", enough), bind("limit", uint64(maxPast)))...)
}

// pastSettings are for reading the occurrences of all records.
func pastSettings() clickhouse.Settings {
	settings := groupSettings()
	settings["max_threads"] = 2
	return settings
}

// ofRule are the arguments that say which events a rule is about.
func ofRule(rule alerts.Rule, since time.Time) []any {
	list := func(texts []string) []string { return append([]string{}, texts...) }
	return []any{
		bind("since", since.UnixMilli()), bind("books", list(rule.Books)), bind("projects", append([]uint64{}, rule.Projects...)),
		bind("environments", list(rule.Environments)), bind("levels", list(rule.Levels)), bind("signatures", list(rule.Signatures)),
		bind("search", strings.ToLower(rule.Search)),
	}
}

// rehearseProjects lets the rule decide about projects. Only what it fires in the days of
// the preview counts; before them it learns what is usual.
func (r *Reader) rehearseProjects(ctx context.Context, rule alerts.Rule, to time.Time) ([]alerts.Firing, error) {
	if !rule.When.OfProjects() {
		return nil, nil
	}
	from := to.AddDate(0, 0, -7*alerts.RehearsalWeeks)
	q, err := build("past_minutes.sql", statementData{}, nil, pastSettings(), append(ofRule(rule, from), bind("limit", uint64(maxPast)))...)
	if err != nil {
		return nil, err
	}
	var minutes []alerts.PastMinute
	err = r.each(ctx, q, func(row driver.Rows) error {
		var one alerts.PastMinute
		err := row.Scan(&one.Minute, &one.Project, &one.Events, &one.Loud)
		minutes = append(minutes, one)
		return err
	})
	if err != nil {
		return nil, err
	}
	first := to.AddDate(0, 0, -PreviewDays).UnixMilli()
	fired := alerts.RehearseProjects(rule, to.Unix()/60, minutes)
	return slices.DeleteFunc(fired, func(f alerts.Firing) bool { return f.Clock < first }), nil
}

func scanPast(row driver.Rows) (e alerts.Past, err error) {
	var (
		book, level  int8
		signature    string
		id, position uint64
	)
	if err := row.Scan(&book, &signature, &id, &e.Project, &position, &e.Number, &e.Received, &e.User, &level, &e.Environment, &e.Release); err != nil {
		return e, fmt.Errorf("read an event: %w", err)
	}
	e.Record = errata.RecordKey{Book: errata.Book(book), Signature: errata.Signature([]byte(signature))}
	e.ID, e.Position, e.Level = errata.Position(id), errata.Position(position), errata.Level(level)
	return e, nil
}

// sumUp counts the firings of projects and those of records that may fire now.
func (r *Reader) sumUp(ctx context.Context, p *Preview, fired, ofProjects []alerts.Firing, gap time.Duration) error {
	keys := map[errata.RecordKey]struct{}{}
	for i := range fired {
		keys[fired[i].Record] = struct{}{}
	}
	list := make([]errata.RecordKey, 0, len(keys))
	for key := range keys {
		list = append(list, key)
	}
	var err error
	if p.Records, err = r.Live(ctx, list); err != nil {
		return err
	}
	fired = slices.DeleteFunc(fired, func(f alerts.Firing) bool {
		record, there := p.Records[f.Record]
		return !there || record.ID != f.ID || record.Status == errata.StatusMuted || record.Noise
	})
	fired = append(fired, ofProjects...)
	slices.SortStableFunc(fired, func(a, b alerts.Firing) int { return cmp.Compare(a.Clock, b.Clock) })
	for i := range fired {
		ago := p.To.Sub(time.UnixMilli(fired[i].Clock)) / (24 * time.Hour)
		p.Days[PreviewDays-1-min(max(ago, 0), PreviewDays-1)]++
	}
	p.Fired, p.Messages = uint64(len(fired)), alerts.Messages(fired, gap)
	p.Latest = slices.Clone(fired[max(0, len(fired)-shownFirings):])
	slices.Reverse(p.Latest)
	return nil
}
