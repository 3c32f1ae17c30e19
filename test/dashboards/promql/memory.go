package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
)

// promQL and engine are those of a Prometheus without options.
var (
	promQL = parser.NewParser(parser.Options{})
	engine = promql.NewEngine(promql.EngineOpts{MaxSamples: 1_000_000, Timeout: 10 * time.Second, LookbackDelta: 5 * time.Minute, Parser: promQL})
)

// memory is what Prometheus has stored: series by their labels.
type memory map[string]promql.Series

// add adds a sample. Samples of a series come in the order of their times.
func (m memory) add(of labels.Labels, at int64, value float64) {
	series := m[of.String()]
	series.Metric = of
	series.Floats = append(series.Floats, promql.FPoint{T: at, F: value})
	m[of.String()] = series
}

// scrape adds what a service answers at /metrics, with what Prometheus adds.
func (m memory) scrape(text, job, instance string, at int64) error {
	add := func(to labels.Labels, value float64) {
		m.add(labels.NewBuilder(to).Set("job", job).Set("instance", instance).Labels(), at, value)
	}
	add(labels.FromStrings(labels.MetricName, "up"), 1)
	metrics := textparse.NewPromParser([]byte(text), labels.NewSymbolTable(), false)
	for {
		entry, err := metrics.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the metrics: %w", err)
		}
		if entry == textparse.EntrySeries {
			var of labels.Labels
			metrics.Labels(&of)
			_, _, value := metrics.Series()
			add(of, value)
		}
	}
}

// answer answers one question.
func (m memory) answer(q question) (a answer) {
	parsed, err := promQL.ParseExpr(q.Expression)
	if err != nil {
		return answer{Error: err.Error()}
	}
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if s, ok := node.(*parser.VectorSelector); ok {
			bare := *s // without the offset
			bare.OriginalOffset, bare.Offset = 0, 0
			byName := labels.MustNewMatcher(labels.MatchEqual, labels.MetricName, s.Name)
			a.Selectors = append(a.Selectors, selector{Name: s.Name, Text: bare.String(), Found: len(m.selected(s.LabelMatchers)) > 0,
				Named: len(m.selected([]*labels.Matcher{byName})) > 0})
		}
		return nil
	})
	changed := maps.Clone(m)
	for text, samples := range q.Instead {
		of, err := promQL.ParseMetric(text)
		if err != nil {
			return answer{Error: err.Error()}
		}
		if !m.like(of) {
			a.Unlike = append(a.Unlike, text)
		}
		delete(changed, of.String())
		for _, s := range samples {
			changed.add(of, s.At, s.Value)
		}
	}
	a.Values, err = changed.evaluate(q.Expression, q.At)
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

// like says whether there is a series with the name and the labels, whatever their values.
func (m memory) like(of labels.Labels) bool {
	var matchers []*labels.Matcher
	of.Range(func(l labels.Label) {
		matcher := labels.MustNewMatcher(labels.MatchNotEqual, l.Name, "")
		if l.Name == labels.MetricName {
			matcher = labels.MustNewMatcher(labels.MatchEqual, l.Name, l.Value)
		}
		matchers = append(matchers, matcher)
	})
	return slices.ContainsFunc(m.selected(matchers), func(s promql.Series) bool { return s.Metric.Len() == of.Len() })
}

func (m memory) evaluate(expression string, at int64) (values []value, err error) {
	query, err := engine.NewInstantQuery(context.Background(), m, nil, expression, time.UnixMilli(at))
	if err != nil {
		return nil, err
	}
	defer query.Close()
	result := query.Exec(context.Background())
	if err := errors.Join(append(result.Warnings.AsErrors(), result.Err)...); err != nil {
		return nil, err
	}
	vector, err := result.Vector()
	if err != nil {
		return nil, err
	}
	for _, s := range vector {
		if !math.IsNaN(s.F) && !math.IsInf(s.F, 0) {
			values = append(values, value{Labels: s.Metric.Map(), Value: s.F})
		}
	}
	return values, nil
}

// selected are the series that match.
func (m memory) selected(matchers []*labels.Matcher) (all []promql.Series) {
	for _, series := range m {
		if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(series.Metric.Get(m.Name)) }) {
			all = append(all, series)
		}
	}
	slices.SortFunc(all, func(a, b promql.Series) int { return labels.Compare(a.Metric, b.Metric) })
	return all
}

// Querier lets the engine read.
func (m memory) Querier(_, _ int64) (storage.Querier, error) { return querier{memory: m}, nil }

type querier struct {
	storage.LabelQuerier // the engine asks for no names
	memory               memory
}

func (querier) Close() error { return nil }

func (q querier) Select(_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	return &found{all: q.memory.selected(matchers)}
}

// found are the series of one selector.
type found struct {
	all []promql.Series
	at  int
}

func (f *found) Next() bool                      { f.at++; return f.at <= len(f.all) }
func (f *found) At() storage.Series              { return promql.NewStorageSeries(f.all[f.at-1]) }
func (*found) Err() error                        { return nil }
func (*found) Warnings() annotations.Annotations { return nil }
