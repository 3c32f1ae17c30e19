package query

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

// TrendReleases is how many releases a trend by release names.
const TrendReleases = 5

// ReleaseTrend is a trend, split by the releases in which the problem occurred. In each
// step the counts of Releases, Others and NotKept add up to that of the trend.
type ReleaseTrend struct {
	Trend
	// Releases are those with the most events in the range, the most first.
	Releases []ReleaseCounts
	// Others is the sum of OtherReleases further releases.
	Others        StepCounts
	OtherReleases uint64
	// NotKept is of events whose single occurrences are not kept any more.
	NotKept StepCounts
}

// StepCounts are one number for each step, and their sum.
type StepCounts struct {
	Counts []uint64
	Total  uint64
}

// ReleaseCounts is one release; "" is none.
type ReleaseCounts struct {
	Release string
	StepCounts
}

func newCounts(steps int) StepCounts { return StepCounts{Counts: make([]uint64, steps)} }

func (c *StepCounts) add(step int, events uint64) {
	c.Counts[step] += events
	c.Total += events
}

// ReleaseTrend reads the trend of a record of the projects by release, over a range that
// [ParseRange] takes. It counts the events that the record counts. Errors: invalid_range,
// not_found, store_unavailable.
func (r *Reader) ReleaseTrend(ctx context.Context, book errata.Book, signature errata.Signature, over string, among Projects) (ReleaseTrend, error) {
	steps, err := ParseRange(over, r.now())
	if err != nil {
		return ReleaseTrend{}, err
	}
	ctx, stop := bounded(ctx, r.patience)
	defer stop()
	var trend ReleaseTrend
	err = r.trusting(func() error {
		record, err := r.record(ctx, book, signature, among)
		if err == nil {
			trend, err = r.releaseTrend(ctx, &record, steps)
		}
		return err
	})
	if err != nil {
		return ReleaseTrend{}, r.explain(ctx, "read the trend of a record by release", err)
	}
	return trend, nil
}

func (r *Reader) releaseTrend(ctx context.Context, record *errata.Record, over Range) (ReleaseTrend, error) {
	trend := ReleaseTrend{Others: newCounts(over.steps())}
	var (
		all   Trend
		first []Occurrence
	)
	err := atOnce(
		func() (err error) {
			if err = r.keptByRelease(ctx, record, over, &trend); err == nil {
				// Read last: what expires meanwhile was counted above.
				first, err = r.occurrencesOf(ctx, record, nil, Ascending, 1)
			}
			return err
		},
		func() (err error) { all, err = r.hours(ctx, record, over); return err },
	)
	if err != nil {
		return ReleaseTrend{}, err
	}
	trend.join(all, first)
	return trend, nil
}

// keptByRelease counts the occurrences that are kept.
func (r *Reader) keptByRelease(ctx context.Context, record *errata.Record, over Range, trend *ReleaseTrend) error {
	q, err := releaseTrendStatement(record, over)
	if err != nil {
		return err
	}
	return r.each(ctx, q, func(row driver.Rows) error {
		var (
			slot, events, last uint64
			name               string
			step               int64
		)
		if err := row.Scan(&slot, &name, &step, &events, &last); err != nil {
			return fmt.Errorf("read a release: %w", err)
		}
		if slot > TrendReleases {
			trend.Others.add(int(step), events)
			trend.OtherReleases = max(trend.OtherReleases, last-TrendReleases)
			return nil
		}
		if slot > uint64(len(trend.Releases)) {
			trend.Releases = append(trend.Releases, ReleaseCounts{name, newCounts(over.steps())})
		}
		trend.Releases[slot-1].add(int(step), events)
		return nil
	})
}

func releaseTrendStatement(record *errata.Record, over Range) (statement, error) {
	args := append(ofRecord(record), bind("count", record.Count), bind("releases", uint64(TrendReleases)))
	return build("trend_releases.sql", statementData{}, nil, facetSettings(), append(args, over.args()...)...)
}

// join fills in the trend itself and what is not kept. Occurrences expire by the time at
// which they were received, which is never before they happened: of the steps behind the
// first one that is kept, all are. hourly counts an event a moment before its record does,
// so it is asked only about the steps before.
func (t *ReleaseTrend) join(all Trend, first []Occurrence) {
	t.Trend = Trend{Range: all.Range, Counts: make([]uint64, len(all.Counts))}
	t.NotKept = newCounts(len(all.Counts))
	for i := range t.Counts {
		kept := t.Others.Counts[i]
		for _, release := range t.Releases {
			kept += release.Counts[i]
		}
		begin := all.From.Add(all.Step * time.Duration(i))
		expired := len(first) == 0 || first[0].Number > 1 && !begin.After(first[0].Received)
		if expired && all.Counts[i] > kept {
			t.NotKept.add(i, all.Counts[i]-kept)
		}
		t.Counts[i] = kept + t.NotKept.Counts[i]
		t.Total += t.Counts[i]
	}
}
