package alerts

import (
	"slices"

	errata "github.com/errata-log/errata"
)

// place is what the records have in common that rules are about.
type place struct {
	book    errata.Book
	project uint64
}

// rulesAt are the rules about records of a place.
type rulesAt struct {
	any       bool
	once      ruleList   // those that fire for one event: the first, one that comes back, the nth
	first     ruleList   // those of once that the first event of a record may fire
	comeback  bool       // some of once fire for records that come back
	reached   []uint64   // the counts of once, the smallest first
	each      []*watched // those that count each event, the smallest frequency first
	named     []*watched // those that name records
	searching ruleList   // those that search texts
	hints     uint64     // of these
	counters  []counter  // of those that count the events of the project

	// differ is the last answer of unlike, and differLevel and differFromEnv say for which
	// events it was. Most events of a place have the same level and environment.
	differ        ruleSet
	differKnown   bool
	differLevel   errata.Level
	differFromEnv string
}

// ruleList has rules in their order, and as a set.
type ruleList struct {
	list []*watched
	set  ruleSet
}

func (l *ruleList) add(rule *watched) {
	l.list = append(l.list, rule)
	l.set.add(rule)
}

// ruleSet has a bit for each rule, by its index.
type ruleSet [(maxRules + 63) / 64]uint64

func (s *ruleSet) has(rule *watched) bool { return s[rule.index/64]>>(rule.index%64)&1 != 0 }
func (s *ruleSet) add(rule *watched)      { s[rule.index/64] |= 1 << (rule.index % 64) }
func (s *ruleSet) remove(rule *watched)   { s[rule.index/64] &^= 1 << (rule.index % 64) }
func (s ruleSet) empty() bool             { return s == ruleSet{} }

// without is the set without the rules of another.
func (s ruleSet) without(other *ruleSet) ruleSet {
	for i := range s {
		s[i] &^= other[i]
	}
	return s
}

// rulesAt finds the rules of a place.
func (d *Decider) rulesAt(p place) *rulesAt {
	if d.last.at != nil && d.last.place == p {
		return d.last.at
	}
	at, known := d.at[p]
	if !known {
		at = &rulesAt{}
		for i := range d.rules {
			if d.rules[i].isAbout(p) {
				at.add(&d.rules[i], p.project)
			}
		}
		d.at[p] = at
	}
	d.last.place, d.last.at = p, at
	return at
}

func (at *rulesAt) add(rule *watched, project uint64) {
	at.any = true
	if rule.countsProjects() {
		at.counters = append(at.counters, rule.counterOf(project))
	}
	if when := &rule.When; when.New || when.Regressed || when.Reached != nil {
		at.once.add(rule)
		at.comeback = at.comeback || when.Regressed
		if when.New || when.Reached != nil && when.Reached.Count == 1 {
			at.first.add(rule)
		}
		if when.Reached != nil {
			place, _ := slices.BinarySearch(at.reached, when.Reached.Count)
			at.reached = slices.Insert(at.reached, place, when.Reached.Count)
		}
	}
	if len(rule.named) > 0 {
		at.named = append(at.named, rule)
	}
	if len(rule.search.text) > 0 {
		at.searching.add(rule)
		at.hints |= rule.search.hint
	}
	if f := rule.When.Frequency; f != nil {
		i := slices.IndexFunc(at.each, func(other *watched) bool { return other.When.Frequency.Least() > f.Least() })
		if i < 0 {
			i = len(at.each)
		}
		at.each = slices.Insert(at.each, i, rule)
	}
}

// counting are the rules that a record with so many events can fire for its frequency.
// Others need not count: most records never have enough events.
func (at *rulesAt) counting(count uint64) []*watched {
	for i, rule := range at.each {
		if count < rule.When.Frequency.Least() {
			return at.each[:i]
		}
	}
	return at.each
}

// unlike are the rules of first that are not about such an event.
func (at *rulesAt) unlike(s *Sighting) *ruleSet {
	if at.differKnown && at.differLevel == s.Level && at.differFromEnv == s.Environment {
		return &at.differ
	}
	at.differ, at.differKnown, at.differLevel, at.differFromEnv = ruleSet{}, true, s.Level, s.Environment
	for _, rule := range at.first.list {
		if !rule.matches(s) {
			at.differ.add(rule)
		}
	}
	return &at.differ
}

// others are the rules of the place that name other records than this one, or search for
// something else than its texts, which are in said.
func (d *Decider) others(at *rulesAt, r *errata.Record) (off ruleSet) {
	off = at.searching.set
	if at.hints != 0 && d.said.hints()&at.hints != 0 {
		for _, rule := range at.searching.list {
			if d.said.have(&rule.search) {
				off.remove(rule)
			}
		}
	}
	for _, rule := range at.named {
		if !rule.names(r) {
			off.add(rule)
		}
	}
	return off
}
