package app

import (
	"context"
	"time"

	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/query"
)

// insights are many records at once, as the API sees them.
type insights struct {
	reader *query.Reader
	now    func() time.Time // ranges end with it
}

var _ api.Insights = insights{}

func spanOf(r query.Range) api.Span {
	return api.Span{Name: r.Name, From: r.From, To: r.To, Step: r.Step}
}

// Trends reads how often records were seen over a range.
func (i insights) Trends(ctx context.Context, keys []api.RecordKey, over string) (api.Trends, error) {
	steps, err := query.ParseRange(over, i.now())
	if err != nil {
		return api.Trends{}, err
	}
	asked := make([]query.Key, len(keys))
	for k, key := range keys {
		asked[k] = query.Key(key)
	}
	trends, err := i.reader.Trends(ctx, asked, steps)
	if err != nil {
		return api.Trends{}, err
	}
	answer := api.Trends{Span: spanOf(steps), Counts: make([][]uint64, len(trends))}
	for k, trend := range trends {
		answer.Counts[k] = trend.Counts
	}
	return answer, nil
}

// Overview reads what happened in a range.
func (i insights) Overview(ctx context.Context, over string) (api.Overview, error) {
	steps, err := query.ParseRange(over, i.now())
	if err != nil {
		return api.Overview{}, err
	}
	o, err := i.reader.Overview(ctx, steps)
	if err != nil {
		return api.Overview{}, err
	}
	answer := api.Overview{Span: spanOf(steps)}
	for _, line := range o.Series {
		answer.Series = append(answer.Series, api.Series(line))
	}
	for _, g := range o.Growing {
		answer.Growing = append(answer.Growing, api.Growing(g))
	}
	for _, n := range o.Noisy {
		answer.Noisy = append(answer.Noisy, api.Noisy(n))
	}
	return answer, nil
}

// CountUpTo counts what a cleanup with this time would remove.
func (i insights) CountUpTo(ctx context.Context, before time.Time) (api.Changed, error) {
	system, database, err := i.reader.CountUpTo(ctx, before)
	return api.Changed{System: system, Database: database}, err
}
