package alerts

import (
	"slices"

	errata "github.com/errata-log/errata"
)

// watched is a rule in the form in which events are compared with it.
type watched struct {
	Rule
	search search
	named  map[errata.Signature]struct{}
	levels []errata.Level
	books  []errata.Book
	index  int
	counts windows // of a rule with a frequency
	// fired is when a rule with a pause has last fired for a record, in Unix milliseconds of
	// the clock; with room many, those are dropped that are not needed any more.
	fired map[errata.Position]int64
	room  int
	// firedOf is the same for projects; periods and last are what the rule counts of them.
	firedOf map[uint64]int64
	periods map[uint64]*periods
	last    map[uint64]*lastSeen
}

func watch(rule Rule) watched {
	w := watched{
		Rule: rule, search: newSearch(rule.Search), named: map[errata.Signature]struct{}{}, fired: map[errata.Position]int64{}, room: minFired,
		firedOf: map[uint64]int64{}, periods: map[uint64]*periods{}, last: map[uint64]*lastSeen{},
	}
	for _, name := range rule.Levels {
		level, _ := errata.ParseLevel(name)
		w.levels = append(w.levels, level)
	}
	for _, name := range rule.Books {
		book, _ := errata.ParseBook(name)
		w.books = append(w.books, book)
	}
	for _, text := range rule.Signatures {
		signature, _ := errata.ParseSignature(text)
		w.named[signature] = struct{}{}
	}
	if rule.When.Frequency != nil {
		w.counts = newWindows(rule.When.Frequency)
	}
	return w
}

// names says whether the record is among those that the rule names.
func (w *watched) names(r *errata.Record) bool {
	if len(w.named) == 0 {
		return true
	}
	_, named := w.named[r.Signature]
	return named
}

func (w *watched) isAbout(p place) bool {
	return (len(w.books) == 0 || slices.Contains(w.books, p.book)) && (len(w.Projects) == 0 || slices.Contains(w.Projects, p.project))
}

// matches says whether the event is one that the rule is about.
func (w *watched) matches(s *Sighting) bool {
	return (len(w.levels) == 0 || slices.Contains(w.levels, s.Level)) &&
		(len(w.Environments) == 0 || slices.Contains(w.Environments, s.Environment))
}
