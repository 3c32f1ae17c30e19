package query_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/test/testenv"
)

// released is a record whose occurrences are of many releases, and what the reader must
// say of them.
type released struct {
	env    *testenv.Env
	reader *query.Reader
	record errata.Record
	now    time.Time
	seen   []testenv.Occurrence // those that the record counts
}

// newReleased fills a record with events of the given releases, one by one, from the
// oldest to the newest. hourly counts all of them; the first ones are not kept. Beside
// it there are a row that the record does not count yet, one of a record of the same
// signature that is gone, and one of another record.
func newReleased(t *testing.T, expired int, ages []time.Duration, releases func(int) string) released {
	t.Helper()
	m := newModel(7)
	r := released{env: testenv.New(t), now: modelDay.Add(90 * time.Minute)}
	r.reader = query.New(query.Config{ClickHouse: r.env.ReadOnlyClickHouse, Now: func() time.Time { return r.now }})
	rows := m.grow(2)
	r.record = m.live[0]
	other, old := m.live[1], r.record
	r.record.ID, r.record.Version, r.record.Count = errata.PositionOf(500, 3), errata.PositionOf(9000, 0), uint64(len(ages))
	insert(t.Context(), t, r.env.ClickHouse, append(rows, row{old, -1}, row{r.record, 1}))
	batch, err := testenv.NewOccurrenceBatch(t.Context(), r.env.ClickHouse)
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Close()
	add := func(of errata.Record, one testenv.Occurrence) {
		if err := batch.Add(of, one); err != nil {
			t.Fatal(err)
		}
	}
	hours := map[time.Time]uint64{}
	for i, age := range ages {
		one := m.single(r.record, i)
		one.Time, one.Release = r.now.Add(-age), releases(i)
		one.Received = one.Time.Add(time.Second)
		r.seen = append(r.seen, one)
		hours[one.Time.Truncate(time.Hour)]++
		if i >= expired {
			add(r.record, one)
		}
	}
	uncounted := m.single(r.record, len(ages))
	uncounted.Time, uncounted.Received, uncounted.Release = r.now, r.now, "not counted"
	if expired < len(ages) {
		hours[r.now.Truncate(time.Hour)]++ // hourly is written first
	}
	add(r.record, uncounted)
	for _, of := range []errata.Record{old, other} {
		one := m.single(of, 0)
		one.Time, one.Received, one.Release = r.now, r.now, "of another"
		add(of, one)
	}
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
	for _, hour := range slices.SortedFunc(maps.Keys(hours), time.Time.Compare) {
		occurred(t, r.env, r.record, hour, hours[hour])
	}
	return r
}

// want counts the events of the record, the first of which are not kept.
func (r released) want(t *testing.T, over string, expired int) query.ReleaseTrend {
	t.Helper()
	span, err := query.ParseRange(over, r.now)
	if err != nil {
		t.Fatal(err)
	}
	steps := int(span.To.Sub(span.From) / span.Step)
	counts := func() query.StepCounts { return query.StepCounts{Counts: make([]uint64, steps)} }
	want := query.ReleaseTrend{Trend: query.Trend{Range: span, Counts: make([]uint64, steps)}, Others: counts(), NotKept: counts()}
	by := map[string]query.StepCounts{}
	for i, one := range r.seen {
		step := int(one.Time.Sub(span.From) / span.Step)
		if one.Time.Before(span.From) {
			continue
		}
		want.Counts[step]++
		want.Total++
		if i < expired {
			want.NotKept.Counts[step]++
			want.NotKept.Total++
			continue
		}
		sum, known := by[one.Release]
		if !known {
			sum = counts()
		}
		sum.Counts[step]++
		sum.Total++
		by[one.Release] = sum
	}
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		if by[a].Total != by[b].Total {
			return int(by[b].Total) - int(by[a].Total)
		}
		return slices.Compare([]byte(a), []byte(b))
	})
	for i, name := range names {
		if i < query.TrendReleases {
			want.Releases = append(want.Releases, query.ReleaseCounts{Release: name, StepCounts: by[name]})
			continue
		}
		want.OtherReleases++
		want.Others.Total += by[name].Total
		for step, n := range by[name].Counts {
			want.Others.Counts[step] += n
		}
	}
	return want
}

// TestReleaseTrend compares trends by release with a model.
func TestReleaseTrend(t *testing.T) {
	ages := func(n int, oldest time.Duration) (list []time.Duration) {
		for i := range n {
			list = append(list, oldest-oldest/time.Duration(n)*time.Duration(i))
		}
		return list
	}
	name := func(of int) func(int) string {
		return func(i int) string {
			return []string{"", "shop@1.10", "shop@1.9", "%_'\\", "größe"}[min(i%of, 4)] + fmt.Sprint(i%of/4)
		}
	}
	for title, c := range map[string]struct {
		ages     []time.Duration
		releases func(int) string
		expired  int
	}{
		"one release":          {ages(30, 40*24*time.Hour), func(int) string { return "" }, 0},
		"five":                 {ages(47, 20*time.Hour), name(5), 0},
		"of many, the first":   {ages(200, 60*24*time.Hour), func(i int) string { return name(9)(i * i) }, 0},
		"the oldest not kept":  {ages(120, 60*24*time.Hour), name(7), 61},
		"not kept in an hour":  {ages(120, 9*time.Hour), name(3), 50},
		"none is kept":         {ages(20, 12*time.Hour), name(3), 20},
		"all before the range": {ages(5, 50*24*time.Hour)[:2], name(2), 1},
	} {
		t.Run(title, func(t *testing.T) {
			r := newReleased(t, c.expired, c.ages, c.releases)
			for _, over := range []string{"1h", "24h", "7d", "30d", "90d"} {
				got, err := r.reader.ReleaseTrend(t.Context(), r.record.Book, r.record.Signature, over, query.OnlyProjects(r.record.Project))
				if diff := cmp.Diff(r.want(t, over, c.expired), got); err != nil || diff != "" {
					t.Errorf("%s: %v (-want +got):\n%.3000s", over, err, diff)
				}
			}
		})
	}
}

// TestReleaseTrendOfNothing: no record, one of another project, and a bad range.
func TestReleaseTrendOfNothing(t *testing.T) {
	r := newReleased(t, 0, []time.Duration{time.Hour}, func(int) string { return "1" })
	for title, c := range map[string]struct {
		signature errata.Signature
		over      string
		among     query.Projects
		want      errata.Kind
	}{
		"no record":       {errata.Signature{1}, "24h", query.Projects{}, errata.KindNotFound},
		"another project": {r.record.Signature, "24h", query.OnlyProjects(r.record.Project + 1), errata.KindNotFound},
		"no range":        {r.record.Signature, "soon", query.Projects{}, errata.KindInvalidRange},
	} {
		if _, err := r.reader.ReleaseTrend(t.Context(), r.record.Book, c.signature, c.over, c.among); errata.KindOf(err) != c.want {
			t.Errorf("%s: %v, want %s", title, err, c.want)
		}
	}
}
