package alerts

import (
	"slices"

	errata "github.com/errata-log/errata"
)

// Decider decides which events fire which rules. One goroutine shows it the events that are
// counted, along the log. It needs to remember what was before them; [Decider.Remember]
// and [Decider.RememberFiring] tell it, so that it decides the same wherever it begins.
type Decider struct {
	rules []watched
	// at are the rules about the records of a place, as far as they were asked for.
	at map[place]*rulesAt
	// counted is up to where the events of projects are counted already; fresh is what was
	// counted since that was asked for.
	counted      errata.Position
	freshPeriods []*periods
	freshLast    []*lastSeen
	// said has the texts of the record that was searched last. last are the rules of the
	// place that was asked for last.
	said texts
	last struct {
		place
		at *rulesAt
	}
}

// NewDecider makes a decider for the rules that are in force. It remembers nothing.
func NewDecider(rules Set) *Decider {
	d := &Decider{at: map[place]*rulesAt{}}
	for _, rule := range rules {
		if rule.Enabled {
			w := watch(rule)
			w.index = len(d.rules)
			d.said.lookFor(&w.search, w.index)
			d.rules = append(d.rules, w)
		}
	}
	return d
}

// Counting are the rules that count the events of the last minutes.
func (d *Decider) Counting() (rules Set) {
	for i := range d.rules {
		if d.rules[i].When.Frequency != nil {
			rules = append(rules, d.rules[i].Rule)
		}
	}
	return rules
}

// Begins are the rules of Counting for which the record begins to count in this stretch: it
// has enough events for the first time. They have to remember the earlier ones.
func (d *Decider) Begins(p Problem) (rules []string) {
	if p.Before == 0 || p.Noise {
		return nil
	}
	at := d.rulesAt(place{p.Book, p.Project})
	counting := at.counting(p.Count)
	if len(counting) == 0 || counting[len(counting)-1].When.Frequency.Least() <= p.Before {
		return nil
	}
	d.said.set(p.Record)
	off := d.others(at, p.Record)
	for _, rule := range counting {
		if rule.When.Frequency.Least() > p.Before && !off.has(rule) {
			rules = append(rules, rule.ID)
		}
	}
	return rules
}

// Remember tells of events that a rule of Counting has to remember: those of a record in one
// minute that the rule is about, behind the last event with which the rule has fired for its
// frequency. users are their different users, when the rule tells users apart. Records that
// have not enough events to fire it need not be remembered.
func (d *Decider) Remember(rule string, r *errata.Record, minute int64, events uint64, users []uint64) {
	w := d.rule(rule)
	if w == nil || r.Noise || !w.isAbout(place{r.Book, r.Project}) || !w.names(r) {
		return
	}
	if d.said.set(r); d.said.have(&w.search) {
		w.counts.remember(r.ID, minute, events, users)
	}
}

// rule is the rule with the id, nil when it is not in force.
func (d *Decider) rule(id string) *watched {
	i := slices.IndexFunc(d.rules, func(w watched) bool { return w.ID == id })
	if i < 0 {
		return nil
	}
	return &d.rules[i]
}

// RememberFiring tells of the last firing of a rule for a record, or for a project. All of
// [Memory] are needed, and those of quiet projects of [QuietMemory].
func (d *Decider) RememberFiring(f Firing) {
	w := d.rule(f.Rule)
	if w == nil {
		return
	}
	if !f.Cause.OfProject() {
		w.silence(f.ID, max(f.Clock, w.fired[f.ID]))
		return
	}
	w.firedOf[f.Project] = max(f.Clock, w.firedOf[f.Project])
	if f.Cause == CauseQuiet && w.When.Quiet != nil {
		last := w.counterOf(f.Project).last
		last.told = max(last.told, f.Position)
	}
}

// Problem is a record whose events are shown, as it is behind a stretch of the log.
type Problem struct {
	*errata.Record
	// Before is its count at the beginning of the stretch.
	Before uint64
	// Regressing says that it was resolved at the beginning of the stretch.
	Regressing bool
}

// Watching is a record with the rules that look at its events. The zero value has none.
type Watching struct {
	of      Problem
	decider *Decider
	at      *rulesAt
	// seen is the number of the last event so far, last that of the last event of the stretch.
	seen, last uint64
	// each are the rules that count each event, next is the number of the next event at
	// which another rule may fire, 0 for none.
	each []*watched
	next uint64
	off  ruleSet // of those that name other records or search for something else
}

// Watch begins with the events of a record. A record that a noise rule hides fires nothing.
// Rules look at the texts of the record here, and not again at each event: soon behind the
// making of a record these are still in the processor's cache. only is for a record that has
// one event in the stretch, with level and environment of that: most events that fire nothing
// are such, and need not be shown. It is nil for others.
func (d *Decider) Watch(p Problem, only *Sighting) (w Watching) {
	at := d.rulesAt(place{p.Book, p.Project})
	if !at.any || p.Noise && len(at.counters) == 0 {
		return w
	}
	w = Watching{of: p, decider: d, at: at, seen: p.Before, last: p.Count}
	if !p.Noise {
		w.each, w.next = at.counting(p.Count), w.after(p.Before)
	}
	d.said.set(p.Record)
	if len(w.each)+len(at.counters) > 0 {
		w.off = d.others(at, p.Record)
		return w
	}
	if w.next == 0 {
		return Watching{}
	}
	may := at.once.set
	if only != nil && w.seesFirst(w.last) {
		if may = at.first.set.without(at.unlike(only)); may.empty() {
			return Watching{}
		}
	}
	w.off = d.others(at, p.Record)
	if may.without(&w.off).empty() {
		return Watching{}
	}
	return w
}

// Looks says whether a rule looks at the events.
func (w *Watching) Looks() bool { return w.decider != nil }

// after is the number of the first event behind so many at which a rule may fire that does
// not count each event; 0 when none does in this stretch.
func (w *Watching) after(seen uint64) uint64 {
	first := w.of.Before + 1
	if seen < first && (first == 1 && len(w.at.first.list) > 0 || w.of.Regressing && w.at.comeback) {
		return first
	}
	for _, count := range w.at.reached {
		if count > seen && count <= w.last {
			return count
		}
	}
	return 0
}

// Sighting is one event of a record.
type Sighting struct {
	Position errata.Position
	// Received is when the event was received, Clock the latest such time of all events on
	// the log up to its block; both in Unix milliseconds.
	Received, Clock int64
	Level           errata.Level
	// User is the keyed hash of the user, 0 for none.
	User uint64
	// Environment and Release are where it happened.
	Environment, Release string
}

// See shows the next event of the record, and calls fire for each rule that it fires.
func (w *Watching) See(s *Sighting, fire func(Firing)) {
	if !w.Looks() {
		return
	}
	if w.seen++; w.seen == w.next {
		w.seeNext(s, fire)
		if w.next = 0; w.seen < w.last {
			w.next = w.after(w.seen)
		}
	}
	for _, rule := range w.each {
		if !w.off.has(rule) && rule.matches(s) && rule.counts.add(w.of.ID, rule.When.Frequency, s) && w.fire(rule, CauseFrequency, s, fire) {
			rule.counts.forget(w.of.ID)
		}
	}
	for i := range w.at.counters {
		w.count(&w.at.counters[i], s, fire)
	}
}

// seeNext fires the rules for which this is the event.
func (w *Watching) seeNext(s *Sighting, fire func(Firing)) {
	once := w.at.once.list
	if w.seesFirst(w.seen) {
		once = w.at.first.list
	}
	for _, rule := range once {
		if cause := w.cause(rule, w.seen); cause != "" && !w.off.has(rule) && rule.matches(s) {
			w.fire(rule, cause, s, fire)
		}
	}
}

// seesFirst says whether the event with this number is the first one of a new record.
func (w *Watching) seesFirst(number uint64) bool { return number == 1 && !w.of.Regressing }

// cause is why the rule fires for the event with this number, "" when it does not.
func (w *Watching) cause(rule *watched, number uint64) Cause {
	switch when := &rule.When; {
	case when.New && number == 1:
		return CauseNew
	case when.Regressed && w.of.Regressing && number == w.of.Before+1:
		return CauseRegressed
	case when.Reached != nil && when.Reached.Count == number:
		return CauseReached
	default:
		return ""
	}
}

// fire fires the rule, unless the record is muted or the rule has fired for it a short time
// ago.
func (w *Watching) fire(rule *watched, cause Cause, s *Sighting, fire func(Firing)) bool {
	if w.of.Status == errata.StatusMuted || rule.silent(w.of.ID, s.Clock) {
		return false
	}
	rule.silence(w.of.ID, s.Clock)
	fire(w.firing(rule, cause, s))
	return true
}

// firing is what an event of the record has fired.
func (w *Watching) firing(rule *watched, cause Cause, s *Sighting) Firing {
	return Firing{
		Position: s.Position, Rule: rule.ID, Cause: cause, Clock: s.Clock, Record: w.of.Key(), ID: w.of.ID,
		Project: w.of.Project, Count: w.seen, Level: s.Level, Environment: s.Environment, Release: s.Release,
	}
}
