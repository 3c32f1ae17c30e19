package alerts_test

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
)

const dayMinutes = 24 * 60

// moment is a fact of a random log: events of one record at one time, or a tick.
type moment struct {
	alerts.Sighting
	record *errata.Record
	events int // 0 for a tick
	since  int64
}

func (m *moment) minute() int64 { return m.Clock / minuteMillis }

// quietRecords are of two projects; one is muted, and one hidden as noise.
func quietRecords() (all []*errata.Record) {
	for i := range 4 {
		r := &errata.Record{ID: errata.Position(1000 + i), Book: errata.BookSystem, Project: uint64(1 + i%2), Message: "m", Status: errata.StatusOpen, Noise: i == 2}
		if i == 3 {
			r.Status = errata.StatusMuted
		}
		r.Signature[0] = byte(i)
		all = append(all, r)
	}
	return all
}

// randomMoments are some weeks of a log.
func randomMoments(t *rapid.T) (log []moment) {
	records := quietRecords()
	clock := int64(1_800_000_000_000)
	for i := range rapid.IntRange(1, 120).Draw(t, "facts") {
		clock += rapid.OneOf(
			rapid.Int64Range(0, 30), rapid.Int64Range(0, 600), rapid.Int64Range(0, 3*dayMinutes), rapid.Int64Range(0, 45*dayMinutes),
		).Draw(t, "step") * minuteMillis
		m := moment{Sighting: alerts.Sighting{
			Position: errata.PositionOf(uint64(i+1), 0), Clock: clock, Received: clock, Level: errata.LevelError,
			Environment: rapid.SampledFrom([]string{"production", "production", "qa"}).Draw(t, "environment"),
		}}
		if rapid.IntRange(0, 2).Draw(t, "tick") == 0 {
			m.Clock += rapid.SampledFrom([]int64{0, 0, 100, dayMinutes}).Draw(t, "ahead") * minuteMillis // of a node whose clock is wrong
			m.since = m.minute() - rapid.SampledFrom([]int64{0, 10, 90, 40 * dayMinutes}).Draw(t, "since")
		} else {
			m.record = rapid.SampledFrom(records).Draw(t, "record")
			m.events = rapid.SampledFrom([]int{1, 2, 9, 10, 12, 40}).Draw(t, "events")
		}
		log = append(log, m)
	}
	return log
}

func randomCounters(t *rapid.T) (rules alerts.Set) {
	for i := range rapid.IntRange(1, 3).Draw(t, "rules") {
		rule := alerts.Rule{
			ID: []string{"a", "b", "c"}[i], Enabled: true, ThrottleMinutes: rapid.SampledFrom([]int{0, 0, 90, 7 * dayMinutes}).Draw(t, "throttle"),
			Environments: rapid.SampledFrom([][]string{nil, nil, {"qa"}}).Draw(t, "environments"),
			Counting:     rapid.SampledFrom([]string{"", "counting"}).Draw(t, "counting") + []string{"", "1", "2"}[i],
		}
		if rapid.Bool().Draw(t, "spike") {
			rule.When.Spike = &alerts.Spike{Factor: rapid.IntRange(2, 3).Draw(t, "factor"), Minutes: rapid.SampledFrom([]int{7, 60, 300, 1440}).Draw(t, "period")}
		}
		if rapid.Bool().Draw(t, "quiet") {
			rule.When.Quiet = &alerts.Quiet{Minutes: rapid.SampledFrom([]int{5, 60, 7 * dayMinutes}).Draw(t, "minutes")}
		}
		rules = append(rules, rule)
	}
	return rules
}

// activityModel decides by looking back over the whole log.
type activityModel struct {
	log   []moment
	fired []alerts.Firing
}

func (m *activityModel) about(rule *alerts.Rule, e *moment) bool {
	return e.record != nil && (len(rule.Environments) == 0 || slices.Contains(rule.Environments, e.Environment))
}

func (m *activityModel) silent(rule *alerts.Rule, project uint64, clock int64) bool {
	return rule.ThrottleMinutes > 0 && slices.ContainsFunc(m.fired, func(f alerts.Firing) bool {
		return f.Rule == rule.ID && f.Project == project && clock < f.Clock+int64(rule.ThrottleMinutes)*minuteMillis
	})
}

func (m *activityModel) decide(rules alerts.Set) []alerts.Firing {
	for i := range m.log {
		for j := range rules {
			switch rule, e := &rules[j], &m.log[i]; {
			case e.record == nil && rule.When.Quiet != nil:
				m.tick(rule, i)
			case rule.When.Spike != nil && m.about(rule, e) && !e.record.Noise && e.record.Status != errata.StatusMuted:
				m.spike(rule, i)
			}
		}
	}
	return m.fired
}

// spike goes through the events of one moment.
func (m *activityModel) spike(rule *alerts.Rule, at int) {
	now, minutes := &m.log[at], int64(rule.When.Spike.Minutes)
	counts := map[int64]int{} // by period
	of := uint64(0)           // of the record
	for i := range m.log[:at] {
		e := &m.log[i]
		if e.record == now.record {
			of += uint64(e.events)
		}
		if m.about(rule, e) && e.record.Project == now.record.Project && !e.record.Noise && e.record.Status != errata.StatusMuted {
			counts[e.minute()/minutes] += e.events
		}
	}
	period := now.minute() / minutes
	first := period - 7*dayMinutes/minutes
	for first < period && counts[first] == 0 {
		first++
	}
	if (period-first)*minutes < dayMinutes {
		return
	}
	var usual []int
	for p := first; p < period; p++ {
		usual = append(usual, counts[p])
	}
	slices.Sort(usual)
	median := usual[len(usual)/2]
	for n := range now.events {
		if with := counts[period] + n + 1; with == max(median*rule.When.Spike.Factor, alerts.MinSpike) && !m.silent(rule, now.record.Project, now.Clock) {
			m.fired = append(m.fired, alerts.Firing{
				Position: now.Position + errata.Position(n), Rule: rule.ID, Cause: alerts.CauseSpike, Clock: now.Clock, Record: now.record.Key(),
				ID: now.record.ID, Project: now.record.Project, Count: of + uint64(n) + 1, Level: now.Level, Environment: now.Environment,
				Events: uint64(with), Usual: uint64(median), Minutes: uint64(minutes),
			})
		}
	}
}

func (m *activityModel) tick(rule *alerts.Rule, at int) {
	now, place := &m.log[at], 0
	for project := uint64(1); project <= 2; project++ {
		var last *moment
		for i := range m.log[:at] {
			if e := &m.log[i]; m.about(rule, e) && e.record.Project == project {
				last = e
			}
		}
		told := func(f alerts.Firing) bool {
			return f.Rule == rule.ID && f.Cause == alerts.CauseQuiet && f.Project == project && f.Position > last.Position
		}
		if last == nil || slices.ContainsFunc(m.fired, told) || m.silent(rule, project, now.Clock) ||
			now.minute()-max(last.minute(), now.since) < int64(rule.When.Quiet.Minutes) || now.minute()-last.minute() > 30*dayMinutes {
			continue
		}
		m.fired = append(m.fired, alerts.Firing{
			Position: now.Position + errata.Position(place), Rule: rule.ID, Cause: alerts.CauseQuiet, Clock: now.Clock,
			Record: errata.RecordKey{Book: errata.BookSystem}, Project: project, Minutes: uint64(now.minute() - last.minute()),
		})
		place++
	}
}

// tables are what a projector has written: firings, then what was counted, then the records.
// It may die between any two of them.
type tables struct {
	fired                      []alerts.Firing
	counted                    map[alerts.Counted]alerts.Counted // by what they have in common
	firedTo, countedTo, cpoint int                               // facts
}

func (w *tables) writeFired(fired []alerts.Firing, to int) {
	fired = slices.DeleteFunc(fired, func(f alerts.Firing) bool { return f.Position < errata.PositionOf(uint64(w.firedTo+1), 0) })
	if w.fired = append(w.fired, fired...); len(fired) > 0 {
		w.firedTo = max(w.firedTo, to)
	}
}

func (w *tables) writeCounted(rows []alerts.Counted, to int) {
	if len(rows) > 0 {
		w.countedTo = max(w.countedTo, to)
	}
	for _, row := range rows {
		key := alerts.Counted{Counting: row.Counting, Cause: row.Cause, Project: row.Project, Minute: row.Minute}
		if row.Cause == alerts.CauseQuiet {
			key.Minute = 0
		}
		was := w.counted[key]
		row.Events, row.Minute, row.Last = row.Events+was.Events, max(row.Minute, was.Minute), max(row.Last, was.Last)
		w.counted[key] = row
	}
}

// decider begins where the tables are.
func (w *tables) decider(rules alerts.Set) *alerts.Decider {
	d := alerts.NewDecider(rules)
	until := errata.PositionOf(uint64(max(w.cpoint, w.countedTo)+1), 0)
	for _, f := range w.fired {
		if f.Position < until {
			d.RememberFiring(f)
		}
	}
	d.CountedBefore(errata.PositionOf(uint64(w.countedTo+1), 0))
	rows := slices.SortedFunc(maps.Values(w.counted), func(a, b alerts.Counted) int { return cmp.Compare(a.Minute, b.Minute) })
	for _, row := range rows {
		d.RememberCounted(row)
	}
	return d
}

// TestProjectsFireLikeTheModel cuts a random log into batches and lets the projector die at
// random places.
func TestProjectsFireLikeTheModel(t *testing.T) {
	fired := map[alerts.Cause]int{}
	rapid.Check(t, func(t *rapid.T) {
		log, rules := randomMoments(t), randomCounters(t)
		want := (&activityModel{log: log}).decide(rules)
		w := &tables{counted: map[alerts.Counted]alerts.Counted{}}
		d := w.decider(rules)
		for w.cpoint < len(log) {
			to := w.cpoint + rapid.IntRange(1, min(12, len(log)-w.cpoint)).Draw(t, "batch")
			got := see(d, log[w.cpoint:to], log[:w.cpoint])
			death := rapid.IntRange(0, 8).Draw(t, "death")
			if death == 1 {
				d = w.decider(rules)
				continue
			}
			w.writeFired(got, to)
			if death == 2 {
				d = w.decider(rules)
				continue
			}
			w.writeCounted(d.Counted(), to)
			if death == 3 {
				d = w.decider(rules)
				continue
			}
			if w.cpoint = to; death == 4 {
				d = w.decider(rules)
			}
		}
		order := func(a, b alerts.Firing) int {
			return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Cause, b.Cause))
		}
		slices.SortFunc(want, order)
		slices.SortFunc(w.fired, order)
		for _, f := range want {
			fired[f.Cause]++
		}
		if diff := gocmp.Diff(want, w.fired); diff != "" {
			t.Fatalf("rules %+v\n(-model +decider)\n%s", rules, diff)
		}
	})
	if fired[alerts.CauseSpike] == 0 || fired[alerts.CauseQuiet] == 0 {
		t.Errorf("the random logs fire too little: %v", fired)
	}
}

// see shows a batch to the decider.
func see(d *alerts.Decider, batch, before []moment) (fired []alerts.Firing) {
	fire := func(f alerts.Firing) { fired = append(fired, f) }
	watching := map[*errata.Record]*alerts.Watching{}
	for i := range batch {
		m := &batch[i]
		if m.record == nil {
			d.Tick(alerts.Tick{Sequence: m.Position.Sequence(), Clock: m.Clock, Since: m.since}, fire)
			continue
		}
		if _, began := watching[m.record]; !began {
			r := *m.record
			p := alerts.Problem{Record: &r}
			for _, e := range before {
				if e.record == m.record {
					p.Before += uint64(e.events)
				}
			}
			r.Count = p.Before + 1
			w := d.Watch(p, nil)
			watching[m.record] = &w
		}
		for n := range m.events {
			s := m.Sighting
			s.Position += errata.Position(n)
			watching[m.record].See(&s, fire)
		}
	}
	return fired
}

// A rule counts anew when it counts something else than before, and else goes on.
func TestRecount(t *testing.T) {
	spike := alerts.Rule{ID: "r", Enabled: true, When: alerts.When{Spike: &alerts.Spike{Factor: 2, Minutes: 5}}, Counting: "old"}
	for name, c := range map[string]struct {
		change func(r *alerts.Rule)
		want   string
	}{
		"name and pause": {func(r *alerts.Rule) { r.Name, r.ThrottleMinutes, r.To = "n", 5, []string{"c"} }, "old"},
		"same spike":     {func(r *alerts.Rule) { r.When.Spike = &alerts.Spike{Factor: 2, Minutes: 5} }, "old"},
		"new":            {func(r *alerts.Rule) { r.When.New = true }, "old"},
		"factor":         {func(r *alerts.Rule) { r.When.Spike = &alerts.Spike{Factor: 3, Minutes: 5} }, "fresh"},
		"quiet":          {func(r *alerts.Rule) { r.When.Quiet = &alerts.Quiet{Minutes: 5} }, "fresh"},
		"projects":       {func(r *alerts.Rule) { r.Projects = []uint64{1} }, "fresh"},
		"environments":   {func(r *alerts.Rule) { r.Environments = []string{"qa"} }, "fresh"},
		"levels":         {func(r *alerts.Rule) { r.Levels = []string{"error"} }, "fresh"},
		"books":          {func(r *alerts.Rule) { r.Books = []string{"system"} }, "fresh"},
		"signatures":     {func(r *alerts.Rule) { r.Signatures = []string{"00"} }, "fresh"},
		"search":         {func(r *alerts.Rule) { r.Search = "x" }, "fresh"},
		"off":            {func(r *alerts.Rule) { r.Enabled = false }, ""},
		"no spike":       {func(r *alerts.Rule) { r.When = alerts.When{New: true} }, ""},
	} {
		next := spike
		c.change(&next)
		if got := next.Recount(&spike, "fresh").Counting; got != c.want {
			t.Errorf("%s: counts as %q, want %q", name, got, c.want)
		}
	}
	off := spike
	off.Enabled, off.Counting = false, ""
	if got := spike.Recount(&off, "fresh").Counting; got != "fresh" {
		t.Errorf("a rule that is switched on counts as %q", got)
	}
}
