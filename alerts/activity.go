package alerts

import (
	"cmp"
	"maps"
	"math"
	"slices"

	errata "github.com/errata-log/errata"
)

const (
	// MinSpike is how many events a period has at least that is a spike: where nothing
	// happens for most of the time, two errors are none.
	MinSpike = 10
	// QuietMemory is for how many minutes a project that sends nothing is remembered. It is
	// longer than a rule may wait and then be silent.
	QuietMemory = 30 * minutesPerDay

	minutesPerDay  = 24 * 60
	minutesPerWeek = 7 * minutesPerDay
)

// Counted is what a rule has counted of a project: the events of one period of a spike, or
// the last event up to which a project is not quiet.
type Counted struct {
	Counting string
	// Cause is CauseSpike or CauseQuiet.
	Cause   Cause
	Project uint64
	// Minute is the first one of the period; of a quiet time that of the last event. It is
	// of the clock, in Unix time.
	Minute int64
	Events uint64
	// Last is the place of the last event.
	Last errata.Position
}

// CountingID is the name of what the rule counts. A rule that an older version has made has no
// Counting, and its id is the name.
func (r *Rule) CountingID() string { return cmp.Or(r.Counting, r.ID) }

// countsProjects says whether the rule counts events of projects.
func (r *Rule) countsProjects() bool {
	return r.Enabled && r.When.OfProjects()
}

// Recount is the rule that follows another one, with fresh as the name of what it counts
// when that is something else than before.
func (r Rule) Recount(before *Rule, fresh string) Rule {
	same := before.countsProjects() && slices.Equal(r.Projects, before.Projects) && slices.Equal(r.Environments, before.Environments) &&
		slices.Equal(r.Levels, before.Levels) && slices.Equal(r.Books, before.Books) && slices.Equal(r.Signatures, before.Signatures) &&
		r.Search == before.Search && equal(r.When.Spike, before.When.Spike) && equal(r.When.Quiet, before.When.Quiet)
	switch {
	case !r.countsProjects():
		r.Counting = ""
	case same:
		r.Counting = before.Counting
	default:
		r.Counting = fresh
	}
	return r
}

func equal[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// PeriodAt is the first minute of the period of a spike in which a minute lies.
func (s *Spike) PeriodAt(minute int64) int64 { return s.periodOf(minute) * int64(s.Minutes) }

// periodOf is the number of that period. Periods are aligned, so that past ones never change.
func (s *Spike) periodOf(minute int64) int64 { return minute / int64(s.Minutes) }

// CountedFrom is the first minute that counts for what is usual.
func (s *Spike) CountedFrom(clock int64) (minute int64) {
	return (s.periodOf(clock/millisPerMinute) - s.week()) * int64(s.Minutes)
}

// week is how many periods it has.
func (s *Spike) week() int64 { return minutesPerWeek / int64(s.Minutes) }

// periods are those of a project in the last week that have events, for one rule with a
// spike.
type periods struct {
	rule    *watched
	project uint64
	list    []period
	fresh   []period // what is not handed out yet
	// usual and enough are those of the period at; enough events are a spike.
	at            int64
	usual, enough uint64
}

type period struct {
	at     int64 // its number
	events uint64
}

// add counts events of a period, which is the last one or comes after it.
func (p *periods) add(at int64, events uint64) {
	if last := len(p.list) - 1; last < 0 || p.list[last].at != at {
		p.list = append(p.list, period{at: at})
	}
	p.list[len(p.list)-1].events += events
}

// see counts an event, and says whether the period has enough of them with it.
func (p *periods) see(d *Decider, minute int64) (spike bool) {
	at := p.rule.When.Spike.periodOf(minute)
	p.add(at, 1)
	if len(p.fresh) == 0 {
		d.freshPeriods = append(d.freshPeriods, p)
	}
	if last := len(p.fresh) - 1; last < 0 || p.fresh[last].at != at {
		p.fresh = append(p.fresh, period{at: at})
	}
	p.fresh[len(p.fresh)-1].events++
	if p.at != at {
		p.begin(at)
	}
	return p.events() == p.enough
}

// events are those of the last period.
func (p *periods) events() uint64 { return p.list[len(p.list)-1].events }

// begin begins a period: it finds out how many events are usual, and drops those older than a
// week. Before a project is known for a whole day, it has no spike.
func (p *periods) begin(at int64) {
	s := p.rule.When.Spike
	p.at, p.usual, p.enough = at, 0, math.MaxUint64
	first := slices.IndexFunc(p.list, func(one period) bool { return one.at >= at-s.week() })
	p.list = p.list[first:] // there is one at least, which has begun
	all := at - p.list[0].at
	if all*int64(s.Minutes) < minutesPerDay {
		return
	}
	var counts []uint64
	for _, one := range p.list[:len(p.list)-1] {
		counts = append(counts, one.events)
	}
	slices.Sort(counts)
	// The periods without events come before these.
	if middle := int(all)/2 - (int(all) - len(counts)); middle >= 0 {
		p.usual = counts[middle]
	}
	p.enough = max(p.usual*uint64(s.Factor), MinSpike)
}

// lastSeen is the last event of a project, for one rule with a quiet time.
type lastSeen struct {
	rule    *watched
	project uint64
	minute  int64
	at      errata.Position // 0 while there is none
	fresh   uint64          // events that are not handed out yet
	// told is the last place at which the rule has said that the project is quiet.
	told errata.Position
}

func (l *lastSeen) see(d *Decider, s *Sighting) {
	if l.fresh == 0 {
		d.freshLast = append(d.freshLast, l)
	}
	l.fresh++
	l.minute, l.at = s.Clock/millisPerMinute, s.Position
}

// counter counts the events of a project for one rule.
type counter struct {
	rule    *watched
	periods *periods  // nil without a spike
	last    *lastSeen // nil without a quiet time
}

// counterOf is what the rule counts of the project.
func (w *watched) counterOf(project uint64) counter {
	c := counter{rule: w}
	if w.When.Spike != nil {
		if c.periods = w.periods[project]; c.periods == nil {
			c.periods = &periods{rule: w, project: project}
			w.periods[project] = c.periods
		}
	}
	if w.When.Quiet != nil {
		if c.last = w.last[project]; c.last == nil {
			c.last = &lastSeen{rule: w, project: project}
			w.last[project] = c.last
		}
	}
	return c
}

// Counters are the rules that count events of projects.
func (d *Decider) Counters() (rules Set) {
	for i := range d.rules {
		if d.rules[i].countsProjects() {
			rules = append(rules, d.rules[i].Rule)
		}
	}
	return rules
}

// RememberCounted tells what a rule of Counters has counted, period by period along the log.
// All of the last week are needed, and all last events of [QuietMemory].
func (d *Decider) RememberCounted(c Counted) {
	for i := range d.rules {
		w := &d.rules[i]
		if w.CountingID() != c.Counting {
			continue
		}
		of := w.counterOf(c.Project)
		switch {
		case c.Cause == CauseSpike && of.periods != nil:
			of.periods.add(w.When.Spike.periodOf(c.Minute), c.Events)
		case c.Cause == CauseQuiet && of.last != nil:
			of.last.minute, of.last.at = max(of.last.minute, c.Minute), max(of.last.at, c.Last)
		}
	}
}

// CountedBefore tells that the events before the place on the log are counted already, and
// have fired all that they fire for projects. The place may be ahead of the events that the
// decider is shown next: then a writer has died after it had written the counts and before it
// had written the records.
func (d *Decider) CountedBefore(at errata.Position) { d.counted = at }

// Counted hands out what was counted since the last call.
func (d *Decider) Counted() (all []Counted) {
	for _, p := range d.freshPeriods {
		for _, one := range p.fresh {
			all = append(all, Counted{
				Counting: p.rule.CountingID(), Cause: CauseSpike, Project: p.project, Minute: one.at * int64(p.rule.When.Spike.Minutes), Events: one.events,
			})
		}
		p.fresh = p.fresh[:0]
	}
	for _, l := range d.freshLast {
		all = append(all, Counted{Counting: l.rule.CountingID(), Cause: CauseQuiet, Project: l.project, Minute: l.minute, Events: l.fresh, Last: l.at})
		l.fresh = 0
	}
	d.freshPeriods, d.freshLast = d.freshPeriods[:0], d.freshLast[:0]
	return all
}

// count counts the event of the record for a rule. A record that is muted or hidden makes no
// spike; it shows all the same that the project sends something.
func (w *Watching) count(c *counter, s *Sighting, fire func(Firing)) {
	if s.Position < w.decider.counted || w.off.has(c.rule) || !c.rule.matches(s) {
		return
	}
	if c.last != nil {
		c.last.see(w.decider, s)
	}
	if c.periods == nil || w.of.Noise || w.of.Status == errata.StatusMuted || !c.periods.see(w.decider, s.Clock/millisPerMinute) {
		return
	}
	f := w.firing(c.rule, CauseSpike, s)
	f.Events, f.Usual, f.Minutes = c.periods.events(), c.periods.usual, uint64(c.rule.When.Spike.Minutes)
	c.rule.fireOf(f, fire)
}

// fireOf fires the rule for a project, unless it has done so a short time ago.
func (w *watched) fireOf(f Firing, fire func(Firing)) bool {
	if last, before := w.firedOf[f.Project]; w.ThrottleMinutes > 0 {
		if before && f.Clock < w.speaks(last) {
			return false
		}
		w.firedOf[f.Project] = f.Clock
	}
	fire(f)
	return true
}

// Tick is a place on the log, with its time. There the rules look for projects that are quiet.
type Tick struct {
	// Sequence is that of its fact.
	Sequence uint64
	// Clock is the latest time up to there, in Unix milliseconds.
	Clock int64
	// Since is the minute from which on the service has taken events without a break: a
	// project is not quiet because nobody has listened.
	Since int64
}

// Tick looks for projects that are quiet, and calls fire for each rule and project.
func (d *Decider) Tick(t Tick, fire func(Firing)) {
	if errata.PositionOf(t.Sequence, 0) < d.counted {
		return
	}
	for i := range d.rules {
		if d.rules[i].When.Quiet != nil {
			d.rules[i].tick(t, fire)
		}
	}
}

func (w *watched) tick(t Tick, fire func(Firing)) {
	now, place := t.Clock/millisPerMinute, 0
	due := maps.Clone(w.last)
	maps.DeleteFunc(due, func(_ uint64, l *lastSeen) bool {
		return l.at <= l.told || now-max(l.minute, t.Since) < int64(w.When.Quiet.Minutes) || now-l.minute > QuietMemory
	})
	for _, project := range slices.Sorted(maps.Keys(due)) {
		if place == errata.MaxBlockEvents {
			return // the next tick shows the others
		}
		f := Firing{
			Position: errata.PositionOf(t.Sequence, place), Rule: w.ID, Cause: CauseQuiet, Clock: t.Clock,
			Record: errata.RecordKey{Book: errata.BookSystem}, Project: project, Minutes: uint64(now - due[project].minute),
		}
		if w.fireOf(f, fire) {
			due[project].told = f.Position
			place++
		}
	}
}
