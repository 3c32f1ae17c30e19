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
	"github.com/errata-log/errata/test/querytest"
	"github.com/errata-log/errata/test/testenv"
)

var (
	modelEnvironments = []string{"production", "staging", "Production", "prod-eu", "", "(other)", "qa.1", "qa-1"}
	modelReleases     = []string{"shop@1.0", "shop@1.1", "shop@1x0", "", "(other)", "größe 2", "line\nbreak"}
)

// scoped is a store whose records have occurrences in deployments.
type scoped struct {
	store
	occurrences []querytest.Occurrence
	within      map[string]querytest.Ready // the records of each scope
}

// newScoped fills both tables: the rows of one deployment stand in several parts, those
// of removed records stay, and one row says that they are gone.
func newScoped(t *testing.T) scoped {
	t.Helper()
	env := testenv.New(t)
	m := newModel(18)
	s := scoped{store: store{model: m, reader: query.New(query.Config{ClickHouse: env.ReadOnlyClickHouse}), env: env}, within: map[string]querytest.Ready{}}
	s.exec(t, "SYSTEM STOP MERGES records")
	s.exec(t, "SYSTEM STOP MERGES deployments")
	known := map[errata.Position]errata.Record{}
	write := func(rows []row) {
		for _, r := range rows {
			known[r.record.ID] = r.record
		}
		insert(t.Context(), t, env.ClickHouse, rows)
	}
	write(m.grow(2500))
	for range 3 {
		write(m.change(800, 120))
		write(m.grow(400))
	}
	live := map[errata.Position]bool{}
	for _, r := range m.live {
		live[r.ID] = true
	}
	s.ready = querytest.Prepare(m.live, rowsOnly)
	s.deploy(t, env, known, live)
	return s
}

// merge merges both tables.
func (s scoped) merge(t *testing.T) {
	t.Helper()
	s.store.merge(t)
	s.exec(t, "SYSTEM START MERGES deployments")
	s.exec(t, "OPTIMIZE TABLE deployments FINAL")
}

// questions are those for pages of one filter.
func (s scoped) questions(f query.Filter, pages ...query.Page) []question {
	scope := fmt.Sprintf("%q %q", f.Environments, f.Releases)
	if _, known := s.within[scope]; !known {
		s.within[scope] = s.ready.Scope(s.occurrences, f)
	}
	return questions(s.within[scope], f, pages...)
}

// deploy invents the occurrences of the records and writes them in several parts.
func (s *scoped) deploy(t *testing.T, env *testenv.Env, known map[errata.Position]errata.Record, live map[errata.Position]bool) {
	t.Helper()
	m := s.model
	parts := make([][]querytest.Occurrence, 4)
	for _, id := range slices.Sorted(maps.Keys(known)) {
		r := known[id]
		for range m.random.IntN(5) {
			o := querytest.Occurrence{ID: r.ID, Environment: pick(m, modelEnvironments...), Release: pick(m, modelReleases...)}
			for range 1 + m.random.IntN(3) {
				o.Count, o.First = uint64(1+m.random.IntN(20)), m.instant()
				o.Last = o.First.Add(time.Duration(m.random.IntN(3)) * time.Hour)
				part := m.random.IntN(len(parts))
				parts[part] = append(parts[part], o)
				if live[r.ID] {
					s.occurrences = append(s.occurrences, o)
				}
			}
		}
		if !live[r.ID] {
			parts[len(parts)-1] = append(parts[len(parts)-1], querytest.Occurrence{ID: r.ID})
		}
	}
	for _, part := range parts {
		writeDeployments(t, env, known, part)
	}
}

// writeDeployments writes one part, with a checkpoint. Without a count a row says that
// its record is gone.
func writeDeployments(t *testing.T, env *testenv.Env, known map[errata.Position]errata.Record, part []querytest.Occurrence) {
	t.Helper()
	batch, err := env.ClickHouse.PrepareBatch(t.Context(), "INSERT INTO deployments (book, signature, id, environment, release, project, count, first_seen, last_seen, gone, sequence)")
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Close()
	add := func(book, signature string, o querytest.Occurrence, project uint64) {
		gone := uint8(0)
		if o.Count == 0 {
			o.First, o.Last, gone = time.UnixMilli(0), time.UnixMilli(0), 1
		}
		if err := batch.Append(book, signature, uint64(o.ID), o.Environment, o.Release, project, o.Count, o.First, o.Last, gone, uint64(1)); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range part {
		r := known[o.ID]
		add(r.Book.String(), string(r.Signature[:]), o, r.Project)
	}
	add("checkpoint", string(make([]byte, 16)), querytest.Occurrence{Environment: "production", Count: 1, First: modelDay, Last: modelDay.AddDate(0, 0, 1)}, 0)
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
}

// TestScopedList compares lists of environments and releases with the model, before a
// merge and after.
func TestScopedList(t *testing.T) {
	s := newScoped(t)
	each, others := s.eachScope(), s.withOthers()
	both := func(t *testing.T, n int) {
		t.Run("each scope", func(t *testing.T) { expectLists(t, s.reader, everyNth(each, n), 5000/n) })
		t.Run("with other filters", func(t *testing.T) { expectLists(t, s.reader, everyNth(others, n), 1000/n) })
		t.Run("projects of removed records", s.projectsOf)
	}
	t.Run("unmerged", func(t *testing.T) {
		both(t, 1)
		t.Run("all pages", s.allScopedPages)
	})
	s.merge(t)
	t.Run("merged", func(t *testing.T) { both(t, 4) })
}

func (s scoped) projectsOf(t *testing.T) {
	keys, want := []errata.RecordKey{{Book: errata.BookSystem, Signature: errata.Signature{1}}}, map[errata.Signature]uint64{}
	for _, r := range s.gone[:100] {
		keys, want[r.Signature] = append(keys, r.Key()), r.Project
	}
	got, err := s.reader.ProjectsOf(t.Context(), keys)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("projects of removed records: %v (-want +got):\n%s", err, diff)
	}
}

func scopes() []query.Filter {
	return []query.Filter{
		{Environments: query.Names{"production"}}, {Environments: query.Names{"Production", "staging"}}, {Environments: query.Names{""}},
		{Environments: query.Names{"(other)"}}, {Environments: query.Names{"prod*"}}, {Environments: query.Names{"*"}}, {Environments: query.Names{"qa.1*"}},
		{Environments: query.Names{"*-*", "staging"}}, {Environments: query.Names{"nowhere"}},
		{Releases: query.Names{"shop@1.0"}}, {Releases: query.Names{"shop@1.*"}}, {Releases: query.Names{"*2", "*\n*"}}, {Releases: query.Names{"", "(other)"}},
		{Environments: query.Names{"production"}, Releases: query.Names{"shop@1.0"}}, {Environments: query.Names{"*"}, Releases: query.Names{"shop*0", ""}},
	}
}

// somewhere is a page in some order.
func (m *model) somewhere(number, limit int) query.Page {
	return query.Page{Order: pick(m, query.Orders...), Direction: pick(m, query.Ascending, query.Descending), Number: number, Limit: limit}
}

func (s scoped) eachScope() (asked []question) {
	for _, f := range scopes() {
		pages := []query.Page{{}}
		for range 4 {
			pages = append(pages, s.somewhere(2, 7))
		}
		asked = append(asked, s.questions(f, pages...)...)
	}
	return asked
}

func (s scoped) withOthers() (asked []question) {
	all := s.filters()
	var names []string
	for name := range all {
		names = append(names, name)
	}
	for i := range 45 {
		f := querytest.Join(pick(s.model, scopes()...), pick(s.model, all[names[i%len(names)]]...))
		asked = append(asked, s.questions(f, s.somewhere(1+s.random.IntN(3), 1+s.random.IntN(30)), query.Page{})...)
	}
	return asked
}

// allScopedPages checks that the pages together are the sorted set, and that none follow;
// of the further orders it reads those that are worth asking.
func (s scoped) allScopedPages(t *testing.T) {
	for _, f := range []query.Filter{
		{Environments: query.Names{"production"}}, {Releases: query.Names{"shop@1.*"}, Projects: query.OnlyProjects(2, 3)},
		{Environments: query.Names{"*"}, MinOccurrence: 20, From: modelDay.AddDate(0, 0, -20)},
	} {
		var pages []query.Page
		total := int(s.questions(f, query.Page{})[0].want.Total)
		last := total/100 + 2
		for i, order := range []query.Order{query.OrderLastSeen, query.OrderFirstSeen, query.OrderCount, query.OrderLevel, query.OrderFile} {
			for number := 1; (number-1)*100 < total+100; number++ {
				if i > 0 && !s.worthAsking(number, last) {
					continue
				}
				pages = append(pages, query.Page{Order: order, Direction: query.Descending, Number: number, Limit: 100})
			}
		}
		expectLists(t, s.reader, s.questions(f, pages...), 1)
	}
}

// rowsOnly is for records without contexts.
func rowsOnly(errata.Record) (none querytest.Seen) { return none }

// TestNoProjectIsNothing: projects that exclude each other select nothing, in every read.
func TestNoProjectIsNothing(t *testing.T) {
	env := testenv.New(t)
	m := newModel(5)
	insert(t.Context(), t, env.ClickHouse, m.grow(20))
	r := query.New(query.Config{ClickHouse: env.ReadOnlyClickHouse})
	none := query.OnlyProjects(1, 2).And(query.OnlyProjects(3))
	if !none.None() || none.All() || none.Has(1) || none.Has(3) || !(query.Projects{}).Has(7) || !(query.Projects{}).All() {
		t.Fatalf("none is %+v", none)
	}
	ctx, some := t.Context(), m.live[0]
	list, err := r.Find(ctx, query.Filter{Projects: none}, query.Page{})
	if err != nil || list.Total != 0 || list.Records == nil || len(list.Records) != 0 {
		t.Errorf("list: %+v, %v", list, err)
	}
	if _, _, err := r.Detail(ctx, some.Book, some.Signature, none); errata.KindOf(err) != errata.KindNotFound {
		t.Errorf("detail: %v", err)
	}
	if _, err := r.Trend(ctx, some.Book, some.Signature, "", none); errata.KindOf(err) != errata.KindNotFound {
		t.Errorf("trend: %v", err)
	}
	if records, total, err := r.Changed(ctx, query.Changes{To: 1 << 62, Projects: none}, 10); err != nil || total != 0 || len(records) != 0 {
		t.Errorf("changed: %d %v", total, err)
	}
	if o, err := r.Overview(ctx, "", none); err != nil || len(o.Series)+len(o.Noisy)+len(o.Projects) != 0 {
		t.Errorf("overview: %+v, %v", o, err)
	}
	if n, err := r.CountUpTo(ctx, modelDay.AddDate(1, 0, 0), none); err != nil || n.Total() != 0 {
		t.Errorf("count up to: %v, %v", n, err)
	}
	if totals, err := r.ProjectTotals(ctx, none); err != nil || len(totals) != 0 {
		t.Errorf("totals: %v, %v", totals, err)
	}
	if _, _, err := r.Detail(ctx, some.Book, some.Signature, query.OnlyProjects(some.Project)); err != nil {
		t.Errorf("detail of its own project: %v", err)
	}
	for _, project := range []uint64{1, 2, 3, 4, 5} {
		_, total, err := r.Changed(ctx, query.Changes{To: 1 << 62, Projects: query.OnlyProjects(project)}, 10)
		if want := len(querytest.Select(m.live, rowsOnly, query.Filter{Projects: query.OnlyProjects(project)}, query.OrderID, query.Ascending)); err != nil || total != uint64(want) {
			t.Errorf("changed of project %d: %s, want %d", project, fmt.Sprint(total, err), want)
		}
	}
}
