package query_test

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/test/querytest"
	"github.com/errata-log/errata/test/testenv"
)

var modelTags = map[string][]string{
	"browser": {"Firefox 131", "firefox 131", "Chrome: 130"}, "region": {"eu-1", "us-1", "größe"}, "empty": {""}, "odd'key\\": {"%_*", "a,b"},
}

// tagged is a store whose records have single occurrences.
type tagged struct {
	store
	singles []querytest.Single // of records that are there
	events  map[errata.Position][]string
	within  map[string]querytest.Ready
}

// newTagged fills records and occurrences, in several parts. Rows of removed records
// stay, and a row of deployments says that they are gone.
func newTagged(t *testing.T) tagged {
	t.Helper()
	env := testenv.New(t)
	m := newModel(19)
	s := tagged{
		store:  store{model: m, reader: query.New(query.Config{ClickHouse: env.ReadOnlyClickHouse}), env: env},
		events: map[errata.Position][]string{}, within: map[string]querytest.Ready{},
	}
	for _, table := range []string{"records", "deployments", "occurrences"} {
		s.exec(t, "SYSTEM STOP MERGES "+table)
	}
	known := map[errata.Position]errata.Record{}
	write := func(rows []row) {
		for _, r := range rows {
			known[r.record.ID] = r.record
		}
		insert(t.Context(), t, env.ClickHouse, rows)
	}
	write(m.grow(1500))
	for range 3 {
		write(m.change(500, 90))
		write(m.grow(300))
	}
	m.writeContexts(t.Context(), t, env.ClickHouse)
	live := map[errata.Position]bool{}
	for _, r := range m.live {
		live[r.ID] = true
	}
	users := s.occur(t, known, live)
	for i := range m.live {
		m.live[i].Users = uint64(len(users[m.live[i].ID]))
	}
	s.ready = querytest.Prepare(m.live, func(r errata.Record) querytest.Seen {
		seen := m.seen[r.ID]
		seen.Events = s.events[r.ID]
		return seen
	})
	return s
}

// occur invents single occurrences of the records and writes them. It returns the users
// of each record.
func (s *tagged) occur(t *testing.T, known map[errata.Position]errata.Record, live map[errata.Position]bool) map[errata.Position]map[uint64]bool {
	t.Helper()
	m, users := s.model, map[errata.Position]map[uint64]bool{}
	batches := make([]*testenv.OccurrenceBatch, 3)
	for i := range batches {
		batch, err := testenv.NewOccurrenceBatch(t.Context(), s.env.ClickHouse)
		if err != nil {
			t.Fatal(err)
		}
		defer batch.Close()
		batches[i] = batch
	}
	var gone []querytest.Occurrence
	for _, id := range slices.Sorted(maps.Keys(known)) {
		r := known[id]
		if !live[id] {
			gone = append(gone, querytest.Occurrence{ID: id})
		}
		for n := range m.random.IntN(6) {
			o := m.single(r, n)
			if users[id] == nil {
				users[id] = map[uint64]bool{}
			}
			if o.UserHash > 0 {
				users[id][o.UserHash] = true
			}
			if live[id] {
				s.singles = append(s.singles, querytest.Single{ID: id, Environment: o.Environment, Release: o.Release, Tags: o.Tags, Time: o.Time})
				s.events[id] = append(s.events[id], o.EventID)
			}
			if err := batches[m.random.IntN(len(batches))].Add(r, o); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, batch := range batches {
		if err := batch.Send(); err != nil {
			t.Fatal(err)
		}
	}
	writeDeployments(t, s.env, known, gone)
	return users
}

// single is the n-th occurrence of a record.
func (m *model) single(r errata.Record, n int) testenv.Occurrence {
	o := testenv.Occurrence{
		Position: r.ID + errata.Position(n)<<13, Number: uint64(n + 1), Time: m.instant(), EventID: fmt.Sprintf("%016x%016x", m.random.Uint64(), m.random.Uint64()),
		Environment: pick(m, modelEnvironments...), Release: pick(m, modelReleases...), UserHash: uint64(m.random.IntN(4)), Level: r.Level,
	}
	o.Received = o.Time.Add(time.Second)
	if m.random.IntN(4) == 0 {
		o.EventID = fmt.Sprintf("order %d/%s", m.random.IntN(1000), o.EventID[:4])
	}
	for _, key := range slices.Sorted(maps.Keys(modelTags)) {
		if m.random.IntN(3) > 0 {
			o.Tags = append(o.Tags, errata.Tag{Key: key, Value: pick(m, modelTags[key]...)})
		}
	}
	return o
}

func (s tagged) merge(t *testing.T) {
	t.Helper()
	s.store.merge(t)
	for _, table := range []string{"deployments", "occurrences"} {
		s.exec(t, "SYSTEM START MERGES "+table)
		s.exec(t, "OPTIMIZE TABLE "+table+" FINAL")
	}
}

// questions are those for pages of one filter.
func (s tagged) questions(f query.Filter, pages ...query.Page) []question {
	scope := fmt.Sprintf("%q %q %q", f.Environments, f.Releases, f.Tags)
	if _, known := s.within[scope]; !known {
		s.within[scope] = s.ready.Scope(querytest.Tagged(s.singles, f.Tags), f)
	}
	return questions(s.within[scope], f, pages...)
}

func tags(pairs ...string) (all []errata.Tag) {
	for _, pair := range pairs {
		key, value, _ := strings.Cut(pair, ":")
		all = append(all, errata.Tag{Key: key, Value: value})
	}
	return all
}

func tagFilters() []query.Filter {
	return []query.Filter{
		{Tags: tags("browser:Firefox 131")}, {Tags: tags("browser:Chrome: 130")}, {Tags: tags("region:größe")}, {Tags: tags("empty:")}, {Tags: tags(`odd'key\:%_*`)},
		{Tags: tags("browser:Firefox 131", "region:eu-1")}, {Tags: tags("browser:firefox 131", "region:eu-1", "empty:")}, {Tags: tags("browser:Firefox 131", "browser:Chrome: 130")},
		{Tags: tags("nothing:here")}, {Tags: tags("browser:Firefox")},
		{Tags: tags("region:us-1"), Environments: query.Names{"production"}}, {Tags: tags("region:eu-1"), Releases: query.Names{"shop@1.*", ""}, Environments: query.Names{"*"}},
	}
}

// TestTaggedList compares lists of tags with the model, before a merge and after.
func TestTaggedList(t *testing.T) {
	s := newTagged(t)
	var each, others, ids []question
	for _, f := range tagFilters() {
		pages := []query.Page{{}, {Number: 400}}
		for range 3 {
			pages = append(pages, s.somewhere(2, 7))
		}
		each = append(each, s.questions(f, pages...)...)
	}
	all := s.filters()
	names := slices.Sorted(maps.Keys(all))
	for i := range 40 {
		f := querytest.Join(pick(s.model, tagFilters()...), pick(s.model, all[names[i%len(names)]]...))
		others = append(others, s.questions(f, s.somewhere(1+s.random.IntN(3), 1+s.random.IntN(30)), query.Page{})...)
	}
	for _, f := range s.eventFilters() {
		ids = append(ids, s.questions(f, query.Page{}, query.Page{Order: query.OrderFile})...)
	}
	both := func(t *testing.T, n int) {
		t.Run("each filter", func(t *testing.T) { expectLists(t, s.reader, everyNth(each, n), 3000/n) })
		t.Run("with other filters", func(t *testing.T) { expectLists(t, s.reader, everyNth(others, n), 300/n) })
		t.Run("event ids", func(t *testing.T) { expectLists(t, s.reader, everyNth(ids, n), 8/n) })
	}
	t.Run("unmerged", func(t *testing.T) { both(t, 1) })
	s.merge(t)
	t.Run("merged", func(t *testing.T) { both(t, 2) })
}

// eventFilters look for event ids of each kind, alone and with other filters.
func (s tagged) eventFilters() (all []query.Filter) {
	var uuid, text string
	var owner errata.Position
	for _, r := range s.live {
		for _, id := range s.events[r.ID][min(1, len(s.events[r.ID])):] { // not the first
			if _, err := hex.DecodeString(id); err == nil && uuid == "" {
				uuid, owner = id, r.ID
			} else if err != nil && text == "" {
				text = id
			}
		}
	}
	dashed := strings.ToUpper(uuid[:8] + "-" + uuid[8:12] + "-" + uuid[12:16] + "-" + uuid[16:20] + "-" + uuid[20:])
	for _, id := range []string{uuid, dashed, text, strings.ToUpper(text), strings.Repeat("0", 32), uuid[1:], "'"} {
		all = append(all, query.Filter{EventID: id}, query.Filter{EventID: id, Environments: query.Names{"*"}, Tags: tags("region:us-1")}, query.Filter{EventID: id, Tags: tags("region:eu-1")}, query.Filter{EventID: id, HideNoise: true})
	}
	for _, r := range s.live {
		if r.ID == owner {
			all = append(all, query.Filter{Search: uuid}, query.Filter{Search: dashed + " " + r.Signature.String()[:6]}, query.Filter{Search: dashed + " nowhere"})
		}
	}
	return all
}
