package query_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/test/testenv"
)

// occurred writes an hour of a record.
func occurred(t *testing.T, env *testenv.Env, r errata.Record, hour time.Time, count uint64) {
	t.Helper()
	err := env.ClickHouse.Exec(t.Context(), "INSERT INTO hourly (book, signature, id, hour, level, count, sequence, project) VALUES (?, unhex(?), ?, fromUnixTimestamp(?), ?, ?, 0, ?)",
		r.Book.String(), r.Signature.String(), uint64(r.ID), hour.Unix(), r.Level.String(), count, r.Project)
	if err != nil {
		t.Fatal(err)
	}
}

// TestManyRecordsAtOnce reads trends, overviews and counts of records. One of them
// is in both books, one was deleted, and one was deleted and seen again.
func TestManyRecordsAtOnce(t *testing.T) {
	env := testenv.New(t)
	now := modelDay.Add(90 * time.Minute)
	over, err := query.ParseRange("24h", now)
	if err != nil {
		t.Fatal(err)
	}
	m := newModel(11)
	var all []errata.Record
	var rows []row
	for i := range 30 {
		r := m.sight()
		r.Book, r.Level, r.LastSeen = errata.BookSystem, errata.LevelError, modelDay.Add(time.Duration(i)*time.Second)
		all, rows = append(all, r), append(rows, row{r, 1})
	}
	twin := m.sight()
	twin.Book, twin.Signature, twin.Level, twin.LastSeen = errata.BookDatabase, all[0].Signature, errata.LevelFatal, modelDay
	again := m.sight()
	again.Book, again.Signature, again.Level, again.LastSeen = errata.BookSystem, all[1].Signature, errata.LevelError, modelDay.Add(time.Hour)
	rows = append(rows, row{twin, 1}, row{all[1], -1}, row{again, 1}, row{all[2], -1})
	insert(t.Context(), t, env.ClickHouse, rows)
	for i, r := range all {
		occurred(t, env, r, over.From.Add(time.Duration(i%24)*time.Hour), uint64(1000-10*i))
	}
	occurred(t, env, all[3], over.To.Add(-time.Hour), 5000)
	occurred(t, env, all[3], over.From.Add(-time.Hour), 9000) // before the range
	occurred(t, env, twin, over.To.Add(-time.Hour), 3)
	occurred(t, env, twin, over.To.Add(-2*time.Hour), 4)
	occurred(t, env, again, over.From, 7)
	many := many{reader: query.New(query.Config{ClickHouse: env.ReadOnlyClickHouse, Now: func() time.Time { return now }}), over: over, all: all, twin: twin, again: again}
	t.Run("trends", many.trends)
	t.Run("overview", many.overview)
	t.Run("live", many.live)
	t.Run("by project", many.byProject)
	t.Run("up to", many.upTo)
}

type many struct {
	reader      *query.Reader
	over        query.Range
	all         []errata.Record
	twin, again errata.Record
}

func (m many) trends(t *testing.T) {
	unknown := errata.RecordKey{Book: errata.BookDatabase, Signature: m.all[5].Signature}
	got, err := m.reader.Trends(t.Context(), []errata.RecordKey{m.twin.Key(), m.again.Key(), m.all[2].Key(), unknown, m.all[3].Key(), m.twin.Key()}, "24h", query.Projects{})
	if err != nil {
		t.Fatal(err)
	}
	at := func(counts map[int]uint64) query.Trend {
		trend := query.Trend{Range: m.over, Counts: make([]uint64, 24)}
		for i, n := range counts {
			trend.Counts[i] = n
			trend.Total += n
		}
		return trend
	}
	twin := at(map[int]uint64{22: 4, 23: 3})
	want := []query.Trend{twin, at(map[int]uint64{0: 7}), at(nil), at(nil), at(map[int]uint64{3: 970, 23: 5000}), twin}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("trends (-want +got):\n%s", diff)
	}
	for _, name := range []string{"24h", "14d"} {
		one, err := m.reader.Trend(t.Context(), m.all[3].Book, m.all[3].Signature, name, query.Projects{})
		if err != nil {
			t.Fatal(err)
		}
		many, err := m.reader.Trends(t.Context(), []errata.RecordKey{m.all[3].Key()}, name, query.Projects{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(one, many[0]); diff != "" {
			t.Errorf("%s: one and many differ:\n%s", name, diff)
		}
	}
}

func (m many) overview(t *testing.T) {
	got, err := m.reader.Overview(t.Context(), "24h", query.Projects{})
	if err != nil {
		t.Fatal(err)
	}
	var noisy, growing []string
	for _, n := range got.Noisy {
		noisy = append(noisy, fmt.Sprint(n.Record.ID, n.Count))
	}
	for _, g := range got.Growing {
		growing = append(growing, fmt.Sprint(g.Record.ID, g.Before, g.Now))
	}
	// The deleted all[1] and all[2] would be second and third.
	wantNoisy := []string{fmt.Sprint(m.all[3].ID, uint64(5970)), fmt.Sprint(m.all[0].ID, uint64(1000))}
	for i := 4; i < 12; i++ {
		wantNoisy = append(wantNoisy, fmt.Sprint(m.all[i].ID, uint64(1000-10*i)))
	}
	wantGrowing := []string{fmt.Sprint(m.all[3].ID, uint64(970), uint64(5000))}
	for i := 12; i < 21; i++ {
		wantGrowing = append(wantGrowing, fmt.Sprint(m.all[i].ID, uint64(0), uint64(1000-10*i)))
	}
	if diff := cmp.Diff([][]string{wantNoisy, wantGrowing}, [][]string{noisy, growing}); diff != "" {
		t.Errorf("noisy and growing (-want +got):\n%s", diff)
	}
	if len(got.Series) != 2 {
		t.Fatalf("got %d series, want two", len(got.Series))
	}
	system, database := got.Series[0], got.Series[1]
	wantCounts := make([]uint64, 24)
	for i := range m.all {
		wantCounts[i%24] += uint64(1000 - 10*i)
	}
	wantCounts[23] += 5000
	wantCounts[0] += 7
	if system.Book != errata.BookSystem || system.Level != errata.LevelError || !cmp.Equal(system.Counts, wantCounts) {
		t.Errorf("series %+v, want error with %v", system, wantCounts)
	}
	if database.Book != errata.BookDatabase || database.Level != errata.LevelFatal || database.Counts[23] != 3 || database.Counts[22] != 4 {
		t.Errorf("series %+v, want fatal with 4 and 3 at the end", database)
	}
}

// byProject compares what is read of single projects with what is read of all.
func (m many) byProject(t *testing.T) {
	ctx := t.Context()
	all, err := m.reader.Overview(ctx, "24h", query.Projects{})
	if err != nil {
		t.Fatal(err)
	}
	totals, err := m.reader.ProjectTotals(ctx, query.Projects{})
	if err != nil {
		t.Fatal(err)
	}
	events, before := uint64(0), ^uint64(0)
	for _, of := range all.Projects {
		one := query.OnlyProjects(of.Project)
		o, err := m.reader.Overview(ctx, "24h", one)
		if err != nil {
			t.Fatal(err)
		}
		inSeries := uint64(0)
		for _, s := range o.Series {
			for _, n := range s.Counts {
				inSeries += n
			}
		}
		if diff := cmp.Diff([]query.ProjectEvents{of}, o.Projects); diff != "" || inSeries != of.Events || totals[of.Project].Events != of.Events || of.Events > before {
			t.Errorf("project %d: %d in series, totals %+v, %s", of.Project, inSeries, totals[of.Project], diff)
		}
		for _, n := range o.Noisy {
			if n.Record.Project != of.Project {
				t.Errorf("project %d is told of record %d of project %d", of.Project, n.Record.ID, n.Record.Project)
			}
		}
		list, err := m.reader.Find(ctx, query.Filter{Projects: one}, query.Page{})
		if err != nil || totals[of.Project].Records != list.Total {
			t.Errorf("project %d has %d records, its list %d (%v)", of.Project, totals[of.Project].Records, list.Total, err)
		}
		some := m.all[3]
		trends, err := m.reader.Trends(ctx, []errata.RecordKey{some.Key()}, "24h", one)
		if err != nil || (trends[0].Total == 0) == (some.Project == of.Project) {
			t.Errorf("project %d: trend of a record of project %d: %d (%v)", of.Project, some.Project, trends[0].Total, err)
		}
		upTo, err := m.reader.CountUpTo(ctx, modelDay.AddDate(0, 0, 1), one)
		if err != nil || upTo.Total() != list.Total {
			t.Errorf("project %d: %d records up to a day later, want %d (%v)", of.Project, upTo.Total(), list.Total, err)
		}
		events, before = events+of.Events, of.Events
	}
	// The occurrences of the deleted records are among them.
	want := uint64(5000 + 3 + 4 + 7)
	for i := range m.all {
		want += uint64(1000 - 10*i)
	}
	if events != want || len(all.Projects) != 5 {
		t.Errorf("%d events in %d projects, want %d in 5", events, len(all.Projects), want)
	}
}

func (m many) live(t *testing.T) {
	got, err := m.reader.Live(t.Context(), []errata.RecordKey{m.twin.Key(), m.all[1].Key(), m.all[2].Key()})
	if err != nil {
		t.Fatal(err)
	}
	want := map[errata.RecordKey]errata.Record{m.twin.Key(): m.twin, m.all[1].Key(): m.again, m.all[0].Key(): m.all[0]}
	if diff := cmp.Diff(want, got, compare...); diff != "" {
		t.Errorf("live (-want +got):\n%s", diff)
	}
	if none, err := m.reader.Live(t.Context(), nil); err != nil || len(none) != 0 {
		t.Errorf("no keys: %v, %v", none, err)
	}
}

func (m many) upTo(t *testing.T) {
	for before, want := range map[time.Time]errata.Changed{
		modelDay.Add(-time.Millisecond): {}, modelDay: {System: 1, Database: 1}, modelDay.Add(10 * time.Second): {System: 9, Database: 1}, modelDay.Add(time.Hour): {System: 29, Database: 1},
	} {
		if got, err := m.reader.CountUpTo(t.Context(), before, query.Projects{}); err != nil || got != want {
			t.Errorf("up to %v: %+v (%v), want %+v", before, got, err, want)
		}
	}
}
