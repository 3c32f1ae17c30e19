//go:build clients

package clients

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// questions are asked at the end. Each is compared whole, in several orders.
var questions = []question{
	{},
	{Types: "database"},
	{Status: "open", Levels: "error,fatal"},
	{MinOccurrence: 50},
	{Project: "shop"},
	{Project: "billing,mobile", Status: "resolved,muted"},
	{Environment: "staging"},
	{Environment: "staging,canary", Types: "system"},
	{Release: "1.1.*"},
	{Release: "2.0.0"},
	{Release: "*-rc.1", MinOccurrence: 3},
	{Environment: "production", Release: "1.0.0"},
	{Environment: "production", Release: "2.*", MinOccurrence: 10},
	{Project: "billing", Environment: "testing", Release: "1.*,2.0.0"},
	{Project: "mobile", Environment: "canary", Status: "open", MinOccurrence: 2},
	{Environment: "nowhere"},
}

// compare compares everything that the service shows with the model.
func (s *scenario) compare(t *testing.T) {
	t.Helper()
	began := time.Now()
	defer func() { t.Logf("compared in %v", time.Since(began).Round(time.Millisecond)) }()
	for _, q := range questions {
		for _, order := range []string{"count", "last_seen", "first_seen", "id"} {
			s.compareList(t, q, order)
		}
	}
	lines := s.list(t, question{}, "id")
	for _, over := range []string{"24h", "7d", "12d"} {
		for _, project := range append([]string{""}, planProjects...) {
			s.compareOverview(t, over, project)
		}
		for part := range slices.Chunk(lines, 100) {
			s.compareTrends(t, part, over, "")
		}
	}
	for part := range slices.Chunk(lines, 100) {
		s.compareTrends(t, part, "7d", planProjects[1])
	}
	s.compareProjects(t)
}

// compareList compares a whole list: its records, and their order.
func (s *scenario) compareList(t *testing.T, q question, order string) (lines []line) {
	t.Helper()
	lines = s.list(t, q, order)
	got := map[string]string{}
	for _, l := range lines {
		got[l.key().message()] = l.text()
		s.compareNames(t, &l)
	}
	want := map[string]string{}
	for _, f := range s.books.ask(q) {
		want[f.message()] = f.text()
	}
	if len(got) != len(lines) {
		t.Errorf("%+v by %s: %d records for %d problems", q, order, len(lines), len(got))
	}
	few(t, fmt.Sprintf("%+v by %s", q, order), want, got)
	sortKey := map[string]func(line) int64{
		"count":      func(l line) int64 { return int64(l.Count) },
		"last_seen":  func(l line) int64 { return l.LastSeen.UnixMilli() },
		"first_seen": func(l line) int64 { return l.FirstSeen.UnixMilli() },
		"id":         func(line) int64 { return 0 },
	}[order]
	if !slices.IsSortedFunc(lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(sortKey(b), sortKey(a)), cmp.Compare(b.ID, a.ID))
	}) {
		t.Errorf("%+v: not in the order of %s", q, order)
	}
	return lines
}

const textFormat = "%s %s %s regressed=%v count=%d first=%d last=%d"

// text is what is compared of a record.
func (l *line) text() string {
	return fmt.Sprintf(textFormat, l.Type, l.Level, l.Status, l.Regressed, l.Count, l.FirstSeen.UnixMilli(), l.LastSeen.UnixMilli())
}

func (f *found) text() string {
	return fmt.Sprintf(textFormat, f.book, f.level, f.status, f.regressed, f.tally.count, f.tally.first, f.tally.last)
}

// compareNames compares what a record says of where it was seen.
func (s *scenario) compareNames(t *testing.T, l *line) {
	t.Helper()
	kept := s.books.records[l.key()]
	if kept == nil {
		return // the list differs
	}
	if l.Message != kept.message() || l.ProjectID != s.projects[kept.project].ID {
		t.Errorf("%s: the message is %q, the project %d", kept.message(), l.Message, l.ProjectID)
	}
	for _, names := range []struct {
		got, known, all []string
	}{
		{l.Environments, kept.latest.environments, kept.seenIn(func(d deployment) string { return d.environment })},
		{l.Releases, kept.latest.releases, kept.seenIn(func(d deployment) string { return d.release })},
	} {
		const most = 3
		known := names.known[:min(most, len(names.known))]
		ok := len(names.got) == min(most, len(names.all)) && slices.Equal(names.got[:min(len(known), len(names.got))], known)
		for i, name := range names.got {
			ok = ok && slices.Contains(names.all, name) && !slices.Contains(names.got[:i], name)
		}
		if !ok {
			t.Errorf("%s was seen in %v, the latest of them %v; it shows %v", kept.message(), names.all, known, names.got)
		}
	}
}

// few compares two maps and shows the first differences.
func few[V any](t *testing.T, what string, want, got map[string]V) {
	t.Helper()
	const most = 10
	var different []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		have, there := got[key]
		switch {
		case !there:
			different = append(different, fmt.Sprintf("%s: missing, want %v", key, want[key]))
		case !gocmp.Equal(want[key], have):
			different = append(different, fmt.Sprintf("%s:\n\twant %v\n\tgot  %v", key, want[key], have))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, there := want[key]; !there {
			different = append(different, fmt.Sprintf("%s: not wanted, %v", key, got[key]))
		}
	}
	if len(different) > 0 {
		t.Errorf("%s: %d of %d differ:\n%s", what, len(different), len(want), strings.Join(different[:min(most, len(different))], "\n"))
	}
}

// compareTrends compares the trends of the records of a list, those of a project or
// all.
func (s *scenario) compareTrends(t *testing.T, lines []line, over, project string) {
	t.Helper()
	r, trends := s.trends(t, lines, over, project)
	if len(trends) != len(lines) {
		t.Fatalf("%d trends of %d records", len(trends), len(lines))
	}
	want, got := map[string][]uint64{}, map[string][]uint64{}
	for i, l := range lines {
		name := l.key().message()
		if kept := s.books.records[l.key()]; kept != nil && like(project, l.Project) {
			want[name] = r.steps(kept.hours)
		} else {
			want[name] = r.steps(nil)
		}
		got[name] = trends[i].Counts
		if sum(trends[i].Counts) != trends[i].Total {
			t.Errorf("the trend of %s: %+v", name, trends[i])
		}
	}
	few(t, "trends of "+over, want, got)
}

// compareOverview compares an overview: all series, and the records that occurred
// most, of a project or all.
func (s *scenario) compareOverview(t *testing.T, over, project string) {
	t.Helper()
	path := "/api/v1/admin/tools/logs/overview?range=" + over
	if project != "" {
		path += "&project=" + project
	}
	var o overview
	s.GetData(t, path, &o)
	in := func(number int) bool { return like(project, planProjects[number]) }
	want, got := map[string][]uint64{}, map[string][]uint64{}
	projects, projectsGot := map[string]uint64{}, map[string]uint64{}
	for name, hours := range s.books.series(in) {
		if counts := o.steps(hours); sum(counts) > 0 {
			want[name] = counts
		}
	}
	for _, series := range o.Series {
		got[series.Type+" "+series.Level] = series.Counts
	}
	few(t, "series of "+path, want, got)
	for i, name := range planProjects {
		if n := s.books.events(i, o.From, o.To); in(i) && n > 0 {
			projects[name] = n
		}
	}
	for _, p := range o.ByProject {
		projectsGot[p.Project] = p.Events
	}
	few(t, "projects of "+path, projects, projectsGot)
	s.compareTops(t, path, &o, in)
}

// compareTops compares the records that occurred most.
func (s *scenario) compareTops(t *testing.T, path string, o *overview, in func(project int) bool) {
	t.Helper()
	noisy, growing := s.books.tops(o.span, in)
	var noisyGot, growingGot []int64
	for _, n := range o.Noisy {
		noisyGot = append(noisyGot, int64(n.Count))
		if kept := s.books.records[n.Record.key()]; kept == nil || sum(o.steps(kept.hours)) != n.Count {
			t.Errorf("noisy of %s: %+v", path, n)
		}
	}
	for _, g := range o.Growing {
		growingGot = append(growingGot, int64(g.Now)-int64(g.Before))
		if kept := s.books.records[g.Record.key()]; kept == nil || sum(o.steps(kept.hours)) != g.Before+g.Now {
			t.Errorf("growing of %s: %+v", path, g)
		}
	}
	if diff := gocmp.Diff([][]int64{noisy, growing}, [][]int64{noisyGot, growingGot}); diff != "" {
		t.Errorf("noisy and growing of %s (-want +got):\n%s", path, diff)
	}
}

// compareProjects compares what the list of projects counts.
func (s *scenario) compareProjects(t *testing.T) {
	t.Helper()
	var o overview
	s.GetData(t, "/api/v1/admin/tools/logs/overview", &o)
	var all []struct {
		Slug   string
		Totals projectTotals
	}
	s.GetData(t, "/api/v1/admin/projects", &all)
	want, got := map[string]projectTotals{"default": {}}, map[string]projectTotals{}
	for i, name := range planProjects {
		want[name] = projectTotals{uint64(len(s.books.ask(question{Project: name}))), s.books.events(i, o.From, o.To)}
	}
	for _, p := range all {
		got[p.Slug] = p.Totals
	}
	few(t, "totals of projects", want, got)
}

// series are the hours of each book and level.
func (b *books) series(in func(project int) bool) map[string]map[int64]uint64 {
	all := map[string]map[int64]uint64{}
	for h, n := range b.happened {
		if !in(h.project) {
			continue
		}
		name := h.book + " " + h.level
		if all[name] == nil {
			all[name] = map[int64]uint64{}
		}
		all[name][h.hour] += n
	}
	return all
}

// events counts what happened to a project between two times.
func (b *books) events(project int, from, to time.Time) (n uint64) {
	for _, hours := range b.series(func(number int) bool { return number == project }) {
		n += sum(steps(hours, from, to, time.Hour))
	}
	return n
}

// tops are the ten highest counts of records in a span, and the ten largest
// differences between its halves.
func (b *books) tops(r span, in func(project int) bool) (noisy, growing []int64) {
	const top = 10
	middle := r.From.Add(r.To.Sub(r.From) / 2)
	for _, k := range b.records {
		if !in(k.project) {
			continue
		}
		var before, now int64
		for hour, n := range k.hours {
			switch at := hour * millisPerHour; {
			case at < r.From.UnixMilli() || at >= r.To.UnixMilli():
			case at < middle.UnixMilli():
				before += int64(n)
			default:
				now += int64(n)
			}
		}
		if before+now > 0 {
			noisy = append(noisy, before+now)
		}
		if now > before {
			growing = append(growing, now-before)
		}
	}
	for _, list := range []*[]int64{&noisy, &growing} {
		slices.Sort(*list)
		slices.Reverse(*list)
		*list = (*list)[:min(top, len(*list))]
	}
	return noisy, growing
}

func sum(counts []uint64) (n uint64) {
	for _, c := range counts {
		n += c
	}
	return n
}
