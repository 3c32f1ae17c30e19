package query_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/test/testenv"
)

// past is a store whose records occurred over ten days.
type past struct {
	*model
	reader *query.Reader
	now    time.Time
	events []alerts.Past
	of     map[errata.Position]errata.Record
	silent map[errata.Position]bool // muted, hidden or gone
}

func newPast(t *testing.T) *past {
	t.Helper()
	env := testenv.New(t)
	p := &past{model: newModel(23), now: modelDay.Add(14*24*time.Hour + 7*time.Minute), of: map[errata.Position]errata.Record{}, silent: map[errata.Position]bool{}}
	p.reader = query.New(query.Config{ClickHouse: env.ReadOnlyClickHouse, Now: func() time.Time { return p.now }})
	rows := p.grow(14)
	for i := range rows {
		r := &rows[i].record
		r.Status, r.Noise = errata.StatusOpen, i == 1
		if i == 2 {
			r.Status = errata.StatusMuted
		}
		p.of[r.ID], p.silent[r.ID] = *r, i < 3
	}
	gone := rows[0]
	gone.sign = -1
	insert(t.Context(), t, env.ClickHouse, append(rows, gone))
	batch, err := testenv.NewOccurrenceBatch(t.Context(), env.ClickHouse)
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Close()
	numbers := map[errata.Position]uint64{}
	at := p.now.Add(-10 * 24 * time.Hour)
	for i := 0; at.Before(p.now); i++ {
		r := pick(p.model, rows...).record
		numbers[r.ID]++
		one := testenv.Occurrence{
			Number: numbers[r.ID], Position: errata.PositionOf(uint64(20_000+i), 0), EventID: fmt.Sprintf("%032x", i), Time: at, Received: at,
			Environment: pick(p.model, "production", "qa"), Release: pick(p.model, "1.0", "2.0"), UserHash: uint64(p.random.IntN(4)), Level: pick(p.model, errata.LevelError, errata.LevelWarning),
		}
		if err := batch.Add(r, one); err != nil {
			t.Fatal(err)
		}
		p.events = append(p.events, alerts.Past{Record: r.Key(), ID: r.ID, Project: r.Project, Number: one.Number, Sighting: alerts.Sighting{
			Position: one.Position, Received: at.UnixMilli(), Level: one.Level, User: one.UserHash, Environment: one.Environment, Release: one.Release,
		}})
		at = at.Add(time.Duration(p.random.Int64N(int64(8 * time.Minute)))).Truncate(time.Millisecond)
	}
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
	return p
}

// about says whether the rule is about the event, and that is not too old.
func (p *past) about(rule *alerts.Rule, e *alerts.Past) bool {
	return e.Received >= p.now.AddDate(0, 0, -query.PreviewDays).UnixMilli() && p.matches(rule, e)
}

func (p *past) matches(rule *alerts.Rule, e *alerts.Past) bool {
	in := func(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }
	r := p.of[e.ID]
	said := strings.ToLower(r.Message + "\x00" + r.Class + "\x00" + r.File)
	return in(rule.Environments, e.Environment) && in(rule.Levels, e.Level.String()) &&
		in(rule.Books, e.Record.Book.String()) && in(rule.Signatures, e.Record.Signature.String()) && strings.Contains(said, strings.ToLower(rule.Search)) &&
		(len(rule.Projects) == 0 || slices.Contains(rule.Projects, e.Project))
}

// rules are one for each way to narrow, and for each cause.
func (p *past) rules() alerts.Set {
	some := p.events[len(p.events)-1]
	often := alerts.When{Frequency: &alerts.Frequency{Count: 3, Minutes: 90}}
	return alerts.Set{
		{When: often},
		{When: alerts.When{New: true, Reached: &alerts.Reached{Count: 90}}},
		{When: alerts.When{New: true, Regressed: true, Frequency: &alerts.Frequency{Count: 4, Users: 3, Minutes: 240}}, ThrottleMinutes: 600},
		{When: often, Environments: []string{"qa"}, Levels: []string{"warning"}},
		{When: often, Books: []string{some.Record.Book.String()}},
		{When: often, Signatures: []string{some.Record.Signature.String()}},
		{When: often, Projects: []uint64{some.Project}},
		{When: often, Search: "ORDER"},
		{When: alerts.When{Regressed: true}},
		{When: alerts.When{Frequency: &alerts.Frequency{Count: 1_000_000, Minutes: 1}}},
	}
}

// TestPreviewOfRules: what a rule would have fired is what it fires over all events that it
// is about.
func TestPreviewOfRules(t *testing.T) {
	p := newPast(t)
	fires := 0
	for i, rule := range p.rules() {
		fired, err := alerts.Rehearse(rule, func(show func(*alerts.Past)) error {
			for _, e := range p.events {
				if p.about(&rule, &e) {
					show(&e)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		fired = slices.DeleteFunc(fired, func(f alerts.Firing) bool { return p.silent[f.ID] })
		got, err := p.reader.Preview(t.Context(), rule, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		want := query.Preview{From: p.now.AddDate(0, 0, -7), To: p.now, Fired: uint64(len(fired)), Messages: alerts.Messages(fired, time.Hour)}
		for j, f := range slices.Backward(fired) {
			if len(fired)-j <= 5 {
				want.Latest = append(want.Latest, f)
			}
			want.Days[6-int(p.now.Sub(time.UnixMilli(f.Clock))/(24*time.Hour))]++
		}
		for _, f := range got.Latest {
			if got.Records[f.Record].ID != f.ID {
				t.Errorf("rule %d: no record for %+v", i, f)
			}
		}
		got.Records = nil
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("rule %d: (-want +got)\n%s", i, diff)
		}
		fires += cmp.Compare(len(fired), 0)
	}
	if fires < 7 {
		t.Errorf("only %d rules fire", fires)
	}
}

// TestPreviewOfProjects: spikes and quiet times are those of the minutes in which events
// came, of records that are neither muted nor hidden for spikes.
func TestPreviewOfProjects(t *testing.T) {
	p := newPast(t)
	fires := map[alerts.Cause]int{}
	for i, rule := range (alerts.Set{
		{When: alerts.When{Spike: &alerts.Spike{Factor: 2, Minutes: 60}}},
		{When: alerts.When{Quiet: &alerts.Quiet{Minutes: 15}}, Environments: []string{"qa"}},
		{When: alerts.When{Spike: &alerts.Spike{Factor: 2, Minutes: 240}, Quiet: &alerts.Quiet{Minutes: 20}}, Projects: []uint64{p.events[0].Project}, ThrottleMinutes: 120},
	}) {
		var minutes []alerts.PastMinute
		for _, e := range p.events {
			if !p.matches(&rule, &e) {
				continue
			}
			one := alerts.PastMinute{Minute: e.Received / 60_000, Project: e.Project, Events: 1, Loud: 1}
			if r := p.of[e.ID]; r.Status == errata.StatusMuted || r.Noise {
				one.Loud = 0
			}
			at, found := slices.BinarySearchFunc(minutes, one, func(a, b alerts.PastMinute) int {
				return cmp.Or(cmp.Compare(a.Minute, b.Minute), cmp.Compare(a.Project, b.Project))
			})
			if !found {
				minutes = slices.Insert(minutes, at, one)
				continue
			}
			minutes[at].Events, minutes[at].Loud = minutes[at].Events+1, minutes[at].Loud+one.Loud
		}
		var want []alerts.Firing
		for _, f := range alerts.RehearseProjects(rule, p.now.Unix()/60, minutes) {
			if f.Clock >= p.now.AddDate(0, 0, -query.PreviewDays).UnixMilli() {
				want = append(want, f)
				fires[f.Cause]++
			}
		}
		got, err := p.reader.Preview(t.Context(), rule, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		latest := slices.Clone(want[max(0, len(want)-5):])
		slices.Reverse(latest)
		if diff := gocmp.Diff(latest, got.Latest); got.Fired != uint64(len(want)) || got.Messages != alerts.Messages(want, time.Hour) || diff != "" {
			t.Errorf("rule %d: %d fired in %d messages, want %d (-want +got)\n%s", i, got.Fired, got.Messages, len(want), diff)
		}
	}
	if fires[alerts.CauseSpike] == 0 || fires[alerts.CauseQuiet] == 0 {
		t.Errorf("not all causes fire: %v", fires)
	}
}
