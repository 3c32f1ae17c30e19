package query_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/test/querytest"
	"github.com/errata-log/errata/test/testenv"
)

// payloads has the contexts of the positions from since on.
type payloads struct {
	since errata.Position
}

func (p payloads) Payload(_ context.Context, _ errata.RecordKey, id, at errata.Position) ([]byte, bool, error) {
	return fmt.Appendf(nil, `{"at":%d,"of":%d}`, at, id), at >= p.since, nil
}

func (p payloads) Available(_ context.Context, _ errata.RecordKey, _ errata.Position, at []errata.Position) (all []bool, err error) {
	for _, position := range at {
		all = append(all, position >= p.since)
	}
	return all, nil
}

// occurring is a record with occurrences beside others, and what they are.
type occurring struct {
	reader *query.Reader
	record errata.Record
	all    []testenv.Occurrence // along the log
	gone   testenv.Occurrence
}

// newOccurring fills a record with 60 occurrences. Those before the 11th are not kept,
// the record does not count the last one yet, and an older record of the same signature
// is gone.
func newOccurring(t *testing.T) occurring {
	t.Helper()
	env := testenv.New(t)
	m := newModel(5)
	insert(t.Context(), t, env.ClickHouse, m.grow(3))
	r := m.live[1]
	old := r
	old.ID = errata.PositionOf(1, 0)
	r.ID, r.Version, r.Count = errata.PositionOf(500, 3), errata.PositionOf(600, 0), 59
	insert(t.Context(), t, env.ClickHouse, []row{{m.live[1], -1}, {r, 1}})
	o := occurring{record: r, gone: testenv.Occurrence{Number: 1, Position: old.ID, Time: modelDay, Received: modelDay, EventID: strings.Repeat("a", 32), Level: errata.LevelError}}
	batch, err := testenv.NewOccurrenceBatch(t.Context(), env.ClickHouse)
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Close()
	add := func(r errata.Record, one testenv.Occurrence) {
		if err := batch.Add(r, one); err != nil {
			t.Fatal(err)
		}
	}
	add(old, o.gone)
	for n := range 60 {
		one := m.single(r, n)
		one.Number = uint64(n + 1)
		one.Position = errata.PositionOf(500+uint64(n), 3)
		one.Server, one.Transaction, one.TraceID = "web-1", "GET /"+strconv.Itoa(n%3), []string{"", "4bf92f3577b34da6a3ce929d0e0e4736", "datadog-12345678", "x"}[n%4]
		if one.UserHash == 1 {
			one.User = "ann"
		}
		if n >= 10 {
			o.all = append(o.all, one)
			add(r, one)
		}
	}
	for i, other := range []errata.Record{m.live[0], m.live[2]} {
		one := m.single(other, 0)
		one.EventID = o.all[i].EventID // another project may choose the same id
		one.Position = other.ID
		add(other, one)
	}
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
	o.reader = query.New(query.Config{ClickHouse: env.ReadOnlyClickHouse, Payloads: payloads{o.all[20].Position}})
	return o
}

// shown is how the reader shows the occurrence.
func (o occurring) shown(one testenv.Occurrence) query.Occurrence {
	user := one.User
	if user == "" && one.UserHash > 0 {
		user = fmt.Sprintf("#%016x", one.UserHash)
	}
	return query.Occurrence{
		Number: one.Number, Position: one.Position, EventID: one.EventID, Time: one.Time, Received: one.Received, Environment: one.Environment, Release: one.Release,
		User: user, Level: one.Level, Server: one.Server, Transaction: one.Transaction, TraceID: one.TraceID, Tags: one.Tags,
		Available: one.Position >= o.all[20].Position,
	}
}

// counted are those that the record counts, the newest first.
func (o occurring) counted(keep func(testenv.Occurrence) bool) (list []query.Occurrence) {
	for _, one := range slices.Backward(o.all[:len(o.all)-1]) {
		if keep(one) {
			list = append(list, o.shown(one))
		}
	}
	return list
}

// TestOccurrences reads all pages of each filter.
func TestOccurrences(t *testing.T) {
	o := newOccurring(t)
	at := o.all[30].Time
	for raw, keep := range map[string]func(testenv.Occurrence) bool{
		"": func(testenv.Occurrence) bool { return true },
		"environment=production,staging": func(one testenv.Occurrence) bool {
			return one.Environment == "production" || one.Environment == "staging"
		},
		"release=shop@1.*":         func(one testenv.Occurrence) bool { return strings.HasPrefix(one.Release, "shop@1.") },
		"user=ann":                 func(one testenv.Occurrence) bool { return one.User == "ann" },
		"user=%230000000000000002": func(one testenv.Occurrence) bool { return one.UserHash == 2 },
		"tag=region:eu-1&tag=browser:firefox 131": func(one testenv.Occurrence) bool {
			return slices.Contains(one.Tags, errata.Tag{Key: "region", Value: "eu-1"}) && slices.Contains(one.Tags, errata.Tag{Key: "browser", Value: "firefox 131"})
		},
		"from=" + url.QueryEscape(at.Format(time.RFC3339Nano)): func(one testenv.Occurrence) bool { return !one.Time.Before(at) },
		"to=" + at.Format(time.DateOnly):                       func(one testenv.Occurrence) bool { return one.Time.Before(at.Truncate(24*time.Hour).AddDate(0, 0, 1)) },
		"user=nobody":                                          func(testenv.Occurrence) bool { return false },
	} {
		values, err := url.ParseQuery(strings.ReplaceAll(raw, " ", "%20"))
		if err != nil {
			t.Fatal(err)
		}
		var got []query.Occurrence
		for cursor := uint64(0); ; {
			page, err := o.reader.Occurrences(t.Context(), o.record.Book, o.record.Signature, values, cursor, 7, query.Projects{})
			if err != nil || page.Count != 59 || len(page.List) > 7 {
				t.Fatalf("%s: %+v, %v", raw, page, err)
			}
			got = append(got, page.List...)
			if cursor = page.Next; cursor == 0 {
				break
			}
		}
		if diff := cmp.Diff(o.counted(keep), got); diff != "" {
			t.Errorf("%s (-want +got):\n%.2000s", raw, diff)
		}
	}
	if _, err := o.reader.Occurrences(t.Context(), o.record.Book, o.record.Signature, nil, 0, 7, query.OnlyProjects(o.record.Project+1)); errata.KindOf(err) != errata.KindNotFound {
		t.Errorf("of another project: %v", err)
	}
}

// TestOneOccurrence: each position, its neighbours and its context.
func TestOneOccurrence(t *testing.T) {
	o := newOccurring(t)
	read := func(at string) (query.Moment, error) {
		return o.reader.Occurrence(t.Context(), o.record.Book, o.record.Signature, at, query.Projects{})
	}
	counted := o.all[:len(o.all)-1]
	for i, one := range counted {
		want := query.Moment{Occurrence: o.shown(one), Payload: []byte("{}")}
		if i > 0 {
			want.Previous = counted[i-1].Position
		}
		if i < len(counted)-1 {
			want.Next = counted[i+1].Position
		}
		if want.Available {
			want.Payload = fmt.Appendf(nil, `{"at":%d,"of":%d}`, one.Position, o.record.ID)
		}
		names := []string{strconv.FormatUint(uint64(one.Position), 10)}
		if i == 0 {
			names = append(names, query.First)
		}
		if i == len(counted)-1 {
			names = append(names, query.Latest)
		}
		for _, name := range names {
			got, err := read(name)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Fatalf("%s: %v (-want +got):\n%s", name, err, diff)
			}
		}
	}
	for at, want := range map[string]errata.Kind{
		"0": errata.KindNotFound, "99999999999": errata.KindNotFound, strconv.Itoa(int(o.gone.Position)): errata.KindNotFound,
		strconv.Itoa(int(o.all[len(o.all)-1].Position)): errata.KindNotFound, "x": errata.KindInvalidNumber, "": errata.KindInvalidNumber, "-1": errata.KindInvalidNumber,
	} {
		if _, err := read(at); errata.KindOf(err) != want {
			t.Errorf("%q: %v, want %s", at, err, want)
		}
	}
}

// TestEvent finds occurrences by their ids, of the projects that are asked for.
func TestEvent(t *testing.T) {
	o := newOccurring(t)
	for i, one := range o.all[:len(o.all)-1] {
		id := one.EventID
		if len(id) == 32 {
			id = strings.ToUpper(id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:])
		}
		next := errata.Position(0)
		if i+2 < len(o.all) {
			next = o.all[i+1].Position
		}
		record, found, err := o.reader.Event(t.Context(), " "+id, query.OnlyProjects(o.record.Project))
		if found.Next != next {
			t.Errorf("%d: the next one is at %d, want %d", i, found.Next, next)
		}
		if err != nil || record.ID != o.record.ID || found.Position != one.Position || record.Users != o.users() {
			t.Fatalf("%d: %v, record %d of %d users, position %d, want %d of %d, %d", i, err, record.ID, record.Users, found.Position, o.record.ID, o.users(), one.Position)
		}
	}
	for _, id := range []string{o.gone.EventID, o.all[len(o.all)-1].EventID, "", "x", "\xff", strings.Repeat("0", 32), strings.Repeat("x", 2000), "' OR 1"} {
		if _, _, err := o.reader.Event(t.Context(), id, query.Projects{}); errata.KindOf(err) != errata.KindNotFound {
			t.Errorf("%q: %v", id, err)
		}
	}
	if _, _, err := o.reader.Event(t.Context(), o.all[9].EventID, query.OnlyProjects(o.record.Project+10)); errata.KindOf(err) != errata.KindNotFound {
		t.Errorf("of another project: %v", err)
	}
}

// users is how many users the kept occurrences have.
func (o occurring) users() uint64 {
	seen := map[uint64]bool{}
	for _, one := range o.all {
		if one.UserHash > 0 {
			seen[one.UserHash] = true
		}
	}
	return uint64(len(seen))
}

// TestFacets compares the facets with the occurrences, and with rows of deployments.
func TestFacets(t *testing.T) {
	s := newTagged(t)
	known := map[errata.Position]errata.Record{}
	for _, r := range s.live {
		known[r.ID] = r
	}
	r := s.live[7]
	writeDeployments(t, s.env, known, []querytest.Occurrence{
		{ID: r.ID, Environment: "production", Release: "1", Count: 5, First: modelDay, Last: modelDay.Add(time.Hour)},
		{ID: r.ID, Environment: "qa", Release: "1", Count: 7, First: modelDay.Add(-time.Hour), Last: modelDay},
		{ID: r.ID, Environment: "production", Release: "", Count: 3, First: modelDay, Last: modelDay.Add(2 * time.Hour)},
	})
	got, err := s.reader.Facets(t.Context(), r.Book, r.Signature, query.Projects{})
	if err != nil {
		t.Fatal(err)
	}
	deployed := func(value string, count uint64, first, last time.Duration) query.Deployed {
		return query.Deployed{Counted: query.Counted{Value: value, Count: count}, FirstSeen: modelDay.Add(first), LastSeen: modelDay.Add(last)}
	}
	want := query.Facets{
		Environments: []query.Deployed{deployed("production", 8, 0, 2*time.Hour), deployed("qa", 7, -time.Hour, 0)},
		Releases:     []query.Deployed{deployed("1", 12, -time.Hour, time.Hour), deployed("", 3, 0, 2*time.Hour)},
		Tags:         map[string][]query.Counted{},
		Users:        got.Users, TopUsers: got.TopUsers,
	}
	for _, one := range s.singles {
		if one.ID != r.ID {
			continue
		}
		for _, tag := range one.Tags {
			values := want.Tags[tag.Key]
			i := slices.IndexFunc(values, func(c query.Counted) bool { return c.Value == tag.Value })
			if i < 0 {
				i, values = len(values), append(values, query.Counted{Value: tag.Value})
			}
			values[i].Count++
			want.Tags[tag.Key] = values
		}
	}
	for _, values := range want.Tags {
		slices.SortFunc(values, func(a, b query.Counted) int {
			if a.Count != b.Count {
				return int(b.Count) - int(a.Count)
			}
			return strings.Compare(a.Value, b.Value)
		})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Rows of the records, too, have their users.
	list, err := s.reader.Find(t.Context(), query.Filter{Signature: &r.Signature, Books: []errata.Book{r.Book}}, query.Page{})
	if err != nil || len(list.Records) != 1 || list.Records[0].Users != got.Users {
		t.Errorf("the list has %+v, %v, want %d users", list.Records, err, got.Users)
	}
	if _, err := s.reader.Facets(t.Context(), r.Book, errata.Signature{1}, query.Projects{}); errata.KindOf(err) != errata.KindNotFound {
		t.Errorf("of no record: %v", err)
	}
}
