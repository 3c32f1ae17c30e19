package projector

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/signature"
)

const (
	// settingLimits is the name of the setting that sets the budget of all projects. A
	// project may have one of its own, see [projectLimit].
	settingLimits = "limits"
	// clockDoubt is how many blocks in a row must be older by more than an hour
	// before the hour in force falls back. One node with a wrong clock among others
	// does not reach it; else the hour would change, and cost an insert, with each
	// of its blocks.
	clockDoubt = 64
)

// maxOverflowClasses is how many classes of a project get an overflow record of
// their own in an hour. The other classes share the one for events without a class:
// a sender may invent any number of classes. Only tests change it.
var maxOverflowClasses uint64 = 100

// budget is how many new records a project may have in an hour, at a place of the
// log. Events that would make one more are counted in an overflow record of their
// class. So a flood of new problems does not make the tables grow or hide other
// problems, and no event is lost.
//
// The budget is a function of the log: the hours are those of the receive times in
// the blocks, and the limits are settings on the log, each in force behind its fact. A
// batch ends where one of them changes, so it has one budget, and a problem that gets no
// record in a batch gets none up to its end.
type budget struct {
	// Limit is how many records a project may get in an hour, 0 for any number. It
	// is 0 before the first setting, so that older logs are folded as before.
	Limit uint64 `json:"limit,omitempty"`
	// Own lists the limits that projects have of their own in the place of Limit,
	// "project:limit,...", by project. It is a text for the reason that Spent is one.
	Own string `json:"own,omitempty"`
	// Hour is the hour in force, as Unix time in hours. It follows the blocks, and
	// falls back only after clockDoubt blocks, which Behind counts, that are older
	// by more than an hour. Turn is the number of the hour in force.
	Hour   int64  `json:"hour,omitempty"`
	Behind int    `json:"behind,omitempty"`
	Turn   uint64 `json:"turn,omitempty"`
	// Spent lists what was spent in this turn, "project:records:classes,...", by
	// project. It is a text so that two budgets can be compared with ==.
	Spent string `json:"spent,omitempty"`
}

// at returns the budget for a block with this receive time, in Unix milliseconds.
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

// after returns the budget after a fact that is not a block.
func (b budget) after(f eventlog.Fact) budget {
	after := settingAfter[struct {
		NewRecordsPerHour *uint64 `json:"new_records_per_hour"`
	}](f, settingLimits)
	if after.NewRecordsPerHour != nil {
		b.Limit = *after.NewRecordsPerHour
	}
	if project, limit, ok := projectLimit(f); ok {
		own, _ := openOwn(b.Own) // a text of a checkpoint was looked at when that was read
		if delete(own, project); limit != nil {
			own[project] = *limit
		}
		b.Own = own.encode()
	}
	return b
}

// projectLimit reads the limit of a project from its fact, nil for none of its own. ok is
// false for any other fact, and for one that cannot be read: it changes nothing.
func projectLimit(f eventlog.Fact) (project uint64, limit *uint64, ok bool) {
	text, ours := strings.CutPrefix(f.Name, eventlog.ProjectSettings)
	if f.Kind != eventlog.FactSetting || !ours {
		return 0, nil, false
	}
	var body struct {
		Version int `json:"v"`
		After   *struct {
			ID     uint64 `json:"id"`
			Limits struct {
				NewRecordsPerHour *uint64 `json:"new_records_per_hour"`
			} `json:"limits"`
		} `json:"after"`
	}
	if json.Unmarshal(f.Data, &body) != nil || body.Version < 1 || body.After == nil || body.After.ID == 0 ||
		strconv.FormatUint(body.After.ID, 10) != text {
		return 0, nil, false
	}
	return body.After.ID, body.After.Limits.NewRecordsPerHour, true
}

// acts says whether any project has a limit.
func (b budget) acts() bool { return b.Limit > 0 || b.Own != "" }

// sameRule says whether one batch may hold events of both budgets.
func (b budget) sameRule(other budget) bool {
	return b.Limit == other.Limit && b.Own == other.Own && b.Turn == other.Turn
}

// ownLimits is the decoded form of Own.
type ownLimits map[uint64]uint64

func (o ownLimits) encode() string {
	var text []byte
	for _, project := range slices.Sorted(maps.Keys(o)) {
		if len(text) > 0 {
			text = append(text, ',')
		}
		text = append(strconv.AppendUint(text, project, 10), ':')
		text = strconv.AppendUint(text, o[project], 10)
	}
	return string(text)
}

// openOwn reads what encode wrote; ok is false for anything else.
func openOwn(text string) (o ownLimits, ok bool) {
	o = ownLimits{}
	if text == "" {
		return o, true
	}
	for item := range strings.SplitSeq(text, ",") {
		project, limit, _ := strings.Cut(item, ":")
		number, _ := strconv.ParseUint(project, 10, 64) // the comparison finds what failed
		o[number], _ = strconv.ParseUint(limit, 10, 64)
	}
	return o, o.encode() == text
}

// spending is the decoded form of Spent: what each project has spent.
type spending map[uint64]*spent

// spent counts the new records and the classes with an overflow record.
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

// overBudget removes the deltas from the batch that would make more new records
// than the budget allows. It returns them with one delta for each class, in the
// order of their first events. old has the records that exist.
func (b *batch) overBudget(old map[recordKey]*errata.Record, spending spending) (refused []*delta) {
	if !b.budget.acts() {
		return nil
	}
	own, _ := openOwn(b.budget.Own)
	order, inOrder := b.order[:0], b.inOrder[:0]
	for i, key := range b.order {
		d := b.inOrder[i]
		limit, has := own[d.project]
		if !has {
			limit = b.budget.Limit
		}
		if old[key] == nil && limit > 0 {
			p := spending.of(d.project)
			if p.records >= limit {
				refused = d.appendTo(refused)
				delete(b.deltas, key)
				continue
			}
			p.records++
		}
		order, inOrder = append(order, key), append(inOrder, d)
	}
	b.order, b.inOrder = order, inOrder
	slices.SortFunc(refused, func(a, b *delta) int { return cmp.Compare(a.id, b.id) })
	return refused
}

// overflowKey is the key of the overflow record for the events of the delta, with
// "" the one that several classes share.
func (d *delta) overflowKey(class string) recordKey {
	return recordKey{d.sighting.Book, signature.SignOverflow(d.sighting.Book, d.project, class)}
}

// overflowKeys returns the keys of all overflow records that the refused deltas may
// be counted in.
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

// spend counts the new records of the batch against the budget. It moves those that
// are too many into overflow records, and adds these to old.
func (c *committer) spend(ctx context.Context, b *batch, old map[recordKey]*errata.Record) error {
	if c.spentTurn != b.budget.Turn {
		c.spent, c.spentTurn = spending{}, b.budget.Turn
	}
	refused := b.overBudget(old, c.spent)
	if len(refused) == 0 {
		return nil
	}
	there, err := c.currentRecords(ctx, overflowKeys(refused))
	if err != nil {
		return err
	}
	maps.Copy(old, there)
	b.overflow(refused, old, c.spent)
	return nil
}

// overflow adds the refused deltas to the batch under the keys of their overflow
// records. old has the records that exist.
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
		b.append(key, d)
	}
}

// overflowMessage is the message of an overflow record.
func overflowMessage(class string) string {
	const why = "counted together: the project has made as many new records as it may in an hour"
	if class == "" {
		return "New problems without a class, or of many classes, " + why
	}
	return "New problems of the class " + class + ", " + why
}
