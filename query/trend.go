package query

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

// Range is a range of time in equal steps, in UTC. Its last step contains the
// time of the request.
type Range struct {
	// Name is the text that was parsed, in lower case.
	Name     string
	From, To time.Time // To is exclusive
	// Step is an hour or a day.
	Step time.Duration
}

const (
	// DefaultRange is the range when the caller names none.
	DefaultRange = "24h"
	// hourlyUpTo is the longest range with steps of an hour: 168 steps.
	hourlyUpTo = 7 * 24 * time.Hour
	// maxRange is how long the rows of the table hourly are kept.
	maxRange = 400 * 24 * time.Hour
	day      = 24 * time.Hour
)

// ParseRange reads a range such as 24h, 7d or 2w; "" is [DefaultRange]. Errors:
// invalid_range.
func ParseRange(text string, now time.Time) (Range, error) {
	name := strings.ToLower(strings.TrimSpace(text))
	if name == "" {
		name = DefaultRange
	}
	length, ok := parseAge(name)
	if !ok || strings.HasSuffix(name, "m") || length < time.Hour || length > maxRange {
		err := errata.Errorf(errata.KindInvalidRange, "The range %q is not a number of hours, days or weeks up to 400 days, such as 24h, 7d or 12w.", short(text))
		err.Details = map[string]any{"field": "range"}
		return Range{}, err
	}
	r := Range{Name: name, Step: time.Hour}
	if length > hourlyUpTo {
		r.Step = day
	}
	r.To = now.UTC().Truncate(r.Step).Add(r.Step)
	r.From = r.To.Add(-length)
	return r, nil
}

// short cuts a value that an error message repeats.
func short(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// Trend is how often a problem occurred in each step of a range.
type Trend struct {
	Range
	// Counts has one number for each step, the oldest first.
	Counts []uint64
	Total  uint64
}

// Trend reads the trend of a record of the projects over a range that [ParseRange] takes. It
// counts every event since the record was made. Errors: invalid_range, not_found,
// store_unavailable.
func (r *Reader) Trend(ctx context.Context, book errata.Book, signature errata.Signature, over string, among Projects) (Trend, error) {
	steps, err := ParseRange(over, r.now())
	if err != nil {
		return Trend{}, err
	}
	ctx, stop := bounded(ctx, r.patience)
	defer stop()
	var trend Trend
	if err := r.trusting(func() (err error) {
		trend, err = r.trend(ctx, book, signature, steps, among)
		return err
	}); err != nil {
		return Trend{}, r.explain(ctx, "read the trend of a record", err)
	}
	return trend, nil
}

func (r *Reader) trend(ctx context.Context, book errata.Book, signature errata.Signature, over Range, among Projects) (Trend, error) {
	record, err := r.record(ctx, book, signature, among)
	if err != nil {
		return Trend{}, err
	}
	return r.hours(ctx, &record, over)
}

// hours reads the trend from the table hourly.
func (r *Reader) hours(ctx context.Context, record *errata.Record, over Range) (Trend, error) {
	q, err := build("trend.sql", statementData{}, nil, keySettings(),
		append(ofRecord(record), bind("from", over.From.Unix()), bind("to", over.To.Unix()))...)
	if err != nil {
		return Trend{}, err
	}
	trend := Trend{Range: over, Counts: make([]uint64, over.steps())}
	err = r.each(ctx, q, func(row driver.Rows) error {
		var hour time.Time
		var events uint64
		if err := row.Scan(&hour, &events); err != nil {
			return fmt.Errorf("read an hour: %w", err)
		}
		trend.Counts[hour.Sub(over.From)/over.Step] += events
		trend.Total += events
		return nil
	})
	return trend, err
}
