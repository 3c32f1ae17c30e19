package projector

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/signature"
)

const (
	// settingLimits is the name of the fact that sets the budget.
	settingLimits = "limits"
	// clockDoubt is how many blocks in a row must be of more than an hour ago
	// until it is believed that the clock before them was ahead. One node with a
	// wrong clock among others is never believed back and forth, which would make
	// a new hour, and an insert, of each of its blocks.
	clockDoubt = 64
)

// maxOverflowClasses is how many overflow records a project gets in an hour by
// class. Further classes share the one for events without a class: a sender that
// makes up classes could otherwise have as many as it likes. Only tests change
// it.
var maxOverflowClasses uint64 = 100

// budget is how many new records a project may have in an hour, at a place of
// the log. Events that would make one more are counted in an overflow record of
// their class instead, so that a flood of new problems neither grows the tables
// nor hides what else there is, and no count is lost.
//
// Everything in it is a function of the log: hours are those of the receive
// times in the blocks, and the limit is a fact. A batch is closed where one of
// them changes, so that all of it has one budget, and a problem that is refused
// a record in it stays so to its end.
type budget struct {
	// Limit is the records that a project may get in an hour, 0 for any number.
	// Without a fact it is 0: what was folded before there was a budget is folded
	// the same for ever.
	Limit uint64 `json:"limit,omitempty"`
	// Hour is the hour in force, as Unix time in hours. It follows the blocks and
	// falls back only when clockDoubt of them, which Behind counts, are of
	// more than an hour before. Turn numbers the hours in force.
	Hour   int64  `json:"hour,omitempty"`
	Behind int    `json:"behind,omitempty"`
	Turn   uint64 `json:"turn,omitempty"`
	// Spent is what was spent in this turn: "project:records:classes", a comma
	// list by project. As a text it can be compared.
	Spent string `json:"spent,omitempty"`
}

// at is the budget for a block received at that time, Unix milliseconds.
func (b budget) at(received int64) budget {
	hour := received / millisPerHour
	switch {
	case hour > b.Hour:
	case hour < b.Hour-1 && b.Behind+1 >= clockDoubt:
	case hour < b.Hour-1:
		b.Behind++
		return b
	default:
		b.Behind = 0
		return b
	}
	b.Hour, b.Behind, b.Turn, b.Spent = hour, 0, b.Turn+1, ""
	return b
}

// after is the budget behind a fact that is no block.
func (b budget) after(f eventlog.Fact) budget {
	after := settingAfter[struct {
		NewRecordsPerHour *uint64 `json:"new_records_per_hour"`
	}](f, settingLimits)
	if after.NewRecordsPerHour != nil {
		b.Limit = *after.NewRecordsPerHour
	}
	return b
}

// sameRule says that a batch may hold events of both budgets.
func (b budget) sameRule(other budget) bool { return b.Limit == other.Limit && b.Turn == other.Turn }

// spending is Spent, opened.
type spending map[uint64]*spent

// spent is what a project has spent.
type spent struct{ records, classes uint64 }

func (s spending) of(project uint64) *spent {
	p := s[project]
	if p == nil {
		p = &spent{}
		s[project] = p
	}
	return p
}

func (s spending) encode() string {
	var list []string
	for _, project := range slices.Sorted(maps.Keys(s)) {
		if p := s[project]; *p != (spent{}) {
			list = append(list, fmt.Sprintf("%d:%d:%d", project, p.records, p.classes))
		}
	}
	return strings.Join(list, ",")
}

// openSpending reads what encode wrote; ok is false for anything else.
func openSpending(text string) (s spending, ok bool) {
	s = spending{}
	for item := range strings.SplitSeq(text, ",") {
		var project uint64
		var p spent
		_, _ = fmt.Sscanf(item, "%d:%d:%d", &project, &p.records, &p.classes) // the comparison finds what failed
		s[project] = &p
	}
	return s, s.encode() == text
}

// overBudget takes the deltas out of the batch that would make a record more
// than the budget has, in log order, and returns them by class, first event
// first. old are the records that exist.
func (b *batch) overBudget(old map[recordKey]*errata.Record, spending spending) (refused []*delta) {
	if b.budget.Limit == 0 {
		return nil
	}
	kept := b.order[:0]
	for _, key := range b.order {
		d := b.deltas[key]
		if old[key] == nil {
			p := spending.of(d.project)
			if p.records >= b.budget.Limit {
				refused = d.appendTo(refused)
				delete(b.deltas, key)
				continue
			}
			p.records++
		}
		kept = append(kept, key)
	}
	b.order = kept
	slices.SortFunc(refused, func(a, b *delta) int { return cmp.Compare(a.id, b.id) })
	return refused
}

// overflowKey is where the events of the delta are counted when it is refused
// a record, and without a class of its own where those of any class are.
func (d *delta) overflowKey(class string) recordKey {
	return recordKey{d.sighting.Book, signature.SignOverflow(d.sighting.Book, d.project, class)}
}

// overflowKeys are all keys that the refused deltas may come under.
func overflowKeys(refused []*delta) (keys []recordKey) {
	seen := map[recordKey]bool{}
	for _, d := range refused {
		for _, key := range [...]recordKey{d.overflowKey(string(d.class)), d.overflowKey("")} {
			if !seen[key] {
				seen[key] = true
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// overflow adds the refused deltas to the batch under the keys of their
// overflow records. old are the records that exist.
func (b *batch) overflow(refused []*delta, old map[recordKey]*errata.Record, spending spending) {
	for _, d := range refused {
		class := string(d.class)
		key := d.overflowKey(class)
		into := b.deltas[key]
		if into == nil && old[key] == nil && class != "" {
			if p := spending.of(d.project); p.classes < maxOverflowClasses {
				p.classes++
			} else {
				class = ""
				key = d.overflowKey(class)
				into = b.deltas[key]
			}
		}
		b.overflowed += d.count
		if into != nil {
			into.merge(d)
			continue
		}
		d.overflow, d.overflowClass = true, class
		b.deltas[key] = d
		b.order = append(b.order, key)
	}
}

// overflowMessage says what an overflow record is.
func overflowMessage(class string) string {
	const why = "counted together: the project has made as many new records as it may in an hour"
	if class == "" {
		return "New problems without a class, or of many classes, " + why
	}
	return "New problems of the class " + class + ", " + why
}
