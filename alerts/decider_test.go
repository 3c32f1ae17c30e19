package alerts_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
)

// seen is one event of a random log, with what the fold knows of its record.
type seen struct {
	alerts.Sighting
	record     int
	number     uint64
	regressing bool
	muted      bool
}

const minuteMillis = 60_000

// randomLog is some events of some records, whose status changes in between.
func randomLog(t *rapid.T) (events []seen, records []errata.Record) {
	for i := range rapid.IntRange(1, 4).Draw(t, "records") {
		r := errata.Record{
			ID: errata.Position(1000 + i), Book: errata.Books[i%2], Project: uint64(1 + i%2), Message: []string{"Order 7 failed", "timeout"}[i%2],
			Noise: i == 3, Status: errata.StatusOpen,
		}
		r.Signature[0] = byte(i)
		records = append(records, r)
	}
	counts, status := make([]uint64, len(records)), make([]errata.Status, len(records))
	clock := int64(1_800_000_000_000)
	for i := range rapid.IntRange(1, 60).Draw(t, "events") {
		of := rapid.IntRange(0, len(records)-1).Draw(t, "record")
		if rapid.IntRange(0, 7).Draw(t, "command") == 0 {
			status[of] = rapid.SampledFrom(errata.Statuses).Draw(t, "status")
		}
		received := clock + rapid.Int64Range(-3*minuteMillis, minuteMillis).Draw(t, "step")
		clock = max(clock, received)
		counts[of]++
		regressing := status[of] == errata.StatusResolved
		if regressing {
			status[of] = errata.StatusOpen
		}
		events = append(events, seen{
			Sighting: alerts.Sighting{
				Position: errata.PositionOf(uint64(i+1), 0), Received: received, Clock: clock,
				Level:       rapid.SampledFrom([]errata.Level{errata.LevelError, errata.LevelWarning}).Draw(t, "level"),
				User:        rapid.Uint64Range(0, 3).Draw(t, "user"),
				Environment: rapid.SampledFrom([]string{"production", "qa"}).Draw(t, "environment"),
			},
			record: of, number: counts[of], regressing: regressing, muted: status[of] == errata.StatusMuted,
		})
	}
	return events, records
}

func randomRules(t *rapid.T) (rules alerts.Set) {
	some := func(label string, from ...string) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(from), 0, 1, rapid.ID[string]).Draw(t, label)
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "rules") {
		rule := alerts.Rule{
			ID: fmt.Sprint("rule", i), Enabled: rapid.IntRange(0, 5).Draw(t, "enabled") > 0,
			Environments: some("environments", "production", "qa"), Levels: some("levels", "error", "warning"), Books: some("books", "system", "database"),
			Signatures: some("signatures", errata.Signature{}.String(), errata.Signature{1}.String(), errata.Signature{2}.String()),
			Search:     rapid.SampledFrom([]string{"", "", "ORDER"}).Draw(t, "search"),
			Projects:   rapid.SampledFrom([][]uint64{nil, {1}}).Draw(t, "projects"), ThrottleMinutes: rapid.SampledFrom([]int{0, 0, 2}).Draw(t, "throttle"),
			When: alerts.When{New: rapid.Bool().Draw(t, "new"), Regressed: rapid.Bool().Draw(t, "regressed")},
		}
		if rapid.Bool().Draw(t, "reached") {
			rule.When.Reached = &alerts.Reached{Count: rapid.Uint64Range(1, 6).Draw(t, "count")}
		}
		if rapid.Bool().Draw(t, "frequency") {
			rule.When.Frequency = &alerts.Frequency{
				Count: rapid.Uint64Range(1, 5).Draw(t, "often"), Users: rapid.Uint64Range(0, 2).Draw(t, "users"), Minutes: rapid.IntRange(1, 4).Draw(t, "minutes"),
			}
		}
		rules = append(rules, rule)
	}
	return rules
}

// model decides by looking back over the whole log for each event.
type model struct {
	events  []seen
	records []errata.Record
	fired   []alerts.Firing
}

func (m *model) about(rule *alerts.Rule, e *seen) bool {
	r := &m.records[e.record]
	in := func(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }
	return rule.Enabled && !r.Noise && in(rule.Signatures, r.Signature.String()) && in(rule.Environments, e.Environment) && in(rule.Levels, e.Level.String()) && in(rule.Books, r.Book.String()) &&
		(len(rule.Projects) == 0 || slices.Contains(rule.Projects, r.Project)) && strings.Contains(strings.ToLower(r.Message), strings.ToLower(rule.Search))
}

// last is the last firing of a rule for a record, of any cause or of one.
func (m *model) last(rule string, of errata.Position, cause alerts.Cause) (at alerts.Firing, found bool) {
	for _, f := range m.fired {
		if f.Rule == rule && f.ID == of && (cause == "" || f.Cause == cause) {
			at, found = f, true
		}
	}
	return at, found
}

func (m *model) window(rule *alerts.Rule, upTo int, clock int64) (list []*seen) {
	last, _ := m.last(rule.ID, m.records[m.events[upTo].record].ID, alerts.CauseFrequency)
	for i := range m.events[:upTo+1] {
		if e := &m.events[i]; e.record == m.events[upTo].record && m.about(rule, e) && e.Position > last.Position &&
			e.Received/minuteMillis > clock/minuteMillis-int64(rule.When.Frequency.Minutes) {
			list = append(list, e)
		}
	}
	return list
}

func (m *model) decide(rules alerts.Set) []alerts.Firing {
	for i := range m.events {
		e := &m.events[i]
		for j := range rules {
			if rule := &rules[j]; m.about(rule, e) {
				switch {
				case rule.When.New && e.number == 1:
					m.fire(rule, e, alerts.CauseNew)
				case rule.When.Regressed && e.regressing:
					m.fire(rule, e, alerts.CauseRegressed)
				case rule.When.Reached != nil && rule.When.Reached.Count == e.number:
					m.fire(rule, e, alerts.CauseReached)
				}
			}
		}
		for j := range rules {
			rule := &rules[j]
			if rule.When.Frequency == nil || !m.about(rule, e) || e.Received/minuteMillis <= e.Clock/minuteMillis-int64(rule.When.Frequency.Minutes) {
				continue
			}
			in, users := m.window(rule, i, e.Clock), map[uint64]bool{}
			for _, other := range in {
				if other.User != 0 {
					users[other.User] = true
				}
			}
			if uint64(len(in)) >= rule.When.Frequency.Count && uint64(len(users)) >= rule.When.Frequency.Users {
				m.fire(rule, e, alerts.CauseFrequency)
			}
		}
	}
	return m.fired
}

func (m *model) fire(rule *alerts.Rule, e *seen, cause alerts.Cause) {
	r := &m.records[e.record]
	if last, found := m.last(rule.ID, r.ID, ""); e.muted || found && e.Clock < last.Clock+int64(rule.ThrottleMinutes)*minuteMillis {
		return
	}
	m.fired = append(m.fired, alerts.Firing{
		Position: e.Position, Rule: rule.ID, Cause: cause, Clock: e.Clock, Record: r.Key(), ID: r.ID,
		Project: r.Project, Count: e.number, Level: e.Level, Environment: e.Environment,
	})
}

// remembering makes a decider that begins behind so many events, from what was before: as
// the projector reads it from its tables.
func (m *model) remembering(rules alerts.Set, behind int, fired []alerts.Firing) *alerts.Decider {
	d := alerts.NewDecider(rules)
	if behind == 0 {
		return d
	}
	clock := m.events[behind-1].Clock
	was := model{events: m.events, records: m.records, fired: fired}
	for _, f := range fired {
		d.RememberFiring(f)
	}
	for _, rule := range d.Counting() {
		for of := range m.records {
			if m.countOf(of, behind) < rule.When.Frequency.Count {
				continue
			}
			was.remember(d, &rule, of, behind, clock)
		}
	}
	return d
}

// countOf is how many events a record has behind so many of the log.
func (m *model) countOf(of, behind int) (n uint64) {
	for i := range m.events[:behind] {
		if m.events[i].record == of {
			n++
		}
	}
	return n
}

// remember tells a decider what a rule has to remember of a record.
func (m *model) remember(d *alerts.Decider, rule *alerts.Rule, of, behind int, clock int64) {
	last, _ := m.last(rule.ID, m.records[of].ID, alerts.CauseFrequency)
	for i := range m.events[:behind] {
		e := &m.events[i]
		if at := e.Received / minuteMillis; e.record == of && m.about(rule, e) && e.Position > last.Position && at >= alerts.WindowFrom(*rule, clock) {
			var users []uint64
			if e.User != 0 && rule.When.Frequency.Users > 0 {
				users = []uint64{e.User}
			}
			d.Remember(rule.ID, &m.records[of], at, 1, users)
		}
	}
}

// begin tells a decider what it must remember when a record has enough events.
func (m *model) begin(d *alerts.Decider, rules alerts.Set, p alerts.Problem, behind int, fired []alerts.Firing) {
	was := model{events: m.events, records: m.records, fired: fired}
	for _, id := range d.Begins(p) {
		rule, _ := rules.Find(id)
		of := slices.IndexFunc(m.records, func(r errata.Record) bool { return r.ID == p.ID })
		was.remember(d, &rule, of, behind, m.events[behind-1].Clock)
	}
}

// TestDecideLikeTheModel cuts a random log into batches, as the projector does, and begins
// with a new decider at random places.
func TestDecideLikeTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events, records := randomLog(t)
		rules := randomRules(t)
		want := (&model{events: events, records: records}).decide(rules)
		m := &model{events: events, records: records}
		var got []alerts.Firing
		d := m.remembering(rules, 0, nil)
		for from := 0; from < len(events); {
			if rapid.IntRange(0, 3).Draw(t, "restart") == 0 {
				d = m.remembering(rules, from, got)
			}
			to := cut(t, events, from)
			watching := map[int]*alerts.Watching{}
			for i := from; i < to; i++ {
				e := &events[i]
				if _, began := watching[e.record]; !began {
					r := records[e.record]
					var n uint64
					for _, other := range events[from:to] {
						if other.record == e.record {
							n++
						}
					}
					r.Count = e.number - 1 + n
					if e.muted {
						r.Status = errata.StatusMuted
					}
					p := alerts.Problem{Record: &r, Before: e.number - 1, Regressing: e.regressing}
					m.begin(d, rules, p, from, got)
					var only *alerts.Sighting
					if n == 1 {
						only = &alerts.Sighting{Level: e.Level, Environment: e.Environment}
					}
					w := d.Watch(p, only)
					watching[e.record] = &w
				}
				watching[e.record].See(&e.Sighting, func(f alerts.Firing) { got = append(got, f) })
			}
			from = to
		}
		order := func(a, b alerts.Firing) int {
			return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Cause, b.Cause))
		}
		slices.SortFunc(want, order)
		slices.SortFunc(got, order)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("rules %+v\n(-model +decider)\n%s", rules, diff)
		}
	})
}

// cut is the end of a batch: the status of a record does not change within one.
func cut(t *rapid.T, events []seen, from int) int {
	to := from + rapid.IntRange(1, 12).Draw(t, "batch")
	muted := map[int]bool{}
	for i := from; i < min(to, len(events)); i++ {
		before, known := muted[events[i].record]
		if known && (before != events[i].muted || events[i].regressing) {
			return i
		}
		muted[events[i].record] = events[i].muted
	}
	return min(to, len(events))
}

// TestFiringsAreForgotten: a rule with a pause remembers those firings that still count, and
// not all that there were.
func TestFiringsAreForgotten(t *testing.T) {
	d := alerts.NewDecider(alerts.Set{{ID: "new", Enabled: true, ThrottleMinutes: 1, When: alerts.When{New: true, Reached: &alerts.Reached{Count: 2}}}})
	told, most := 0, 0
	see := func(of int, before uint64, clock int64) {
		r := errata.Record{ID: errata.Position(of), Book: errata.BookSystem, Count: before + 1, Status: errata.StatusOpen}
		w := d.Watch(alerts.Problem{Record: &r, Before: before}, nil)
		w.See(&alerts.Sighting{Received: clock, Clock: clock}, func(alerts.Firing) { told++ })
		most = max(most, d.Fired("new"))
	}
	const records = 10 * alerts.MinFired
	for of := range records {
		clock := int64(of) * 1000
		see(of, 0, clock)
		if of >= 30 { // half a minute later: the rule is silent about it
			see(of-30, 1, clock)
		}
	}
	if told != records || most > alerts.MinFired {
		t.Errorf("fired %d times for %d records, and remembered %d", told, records, most)
	}
	see(0, 1, records*1000)
	if told != records+1 {
		t.Error("the rule says nothing about a record when its pause is over")
	}
}
