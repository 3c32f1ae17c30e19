//go:build clients

package clients

import (
	"slices"
	"strings"
	"time"
)

// books is the model: what the service must show after what it was sent.
type books struct {
	records map[problemKey]*kept
	// happened has all occurrences by hour, also those of records that are gone.
	happened map[happening]uint64
	// made counts records that began, reborn those of problems that were deleted
	// before, regressed those that were opened again.
	made, reborn, regressed int
	gone                    map[problemKey]bool
}

// happening is what an overview counts.
type happening struct {
	project     int
	book, level string
	hour        int64 // Unix time in hours
}

// deployment is where an occurrence happened.
type deployment struct{ environment, release string }

// tally counts occurrences. Times are in milliseconds since 1970.
type tally struct {
	count       uint64
	first, last int64
}

func (t *tally) add(at int64) {
	if t.count == 0 {
		t.first, t.last = at, at
	}
	t.count++
	t.first, t.last = min(t.first, at), max(t.last, at)
}

func (t *tally) merge(other *tally) {
	if t.count == 0 {
		*t = *other
		return
	}
	t.count += other.count
	t.first, t.last = min(t.first, other.first), max(t.last, other.last)
}

// kept is a record of the model.
type kept struct {
	tally
	problemKey
	book, level, status string
	regressed           bool
	deployments         map[deployment]*tally
	hours               map[int64]uint64
	// latest are the latest environments and releases, as far as their order is
	// known: events that are sent at once have none.
	latest struct{ environments, releases []string }
}

const (
	statusOpen, statusResolved, statusMuted = "open", "resolved", "muted"

	millisPerHour = int64(time.Hour / time.Millisecond)
)

func newBooks() *books {
	return &books{records: map[problemKey]*kept{}, happened: map[happening]uint64{}, gone: map[problemKey]bool{}}
}

// follow counts an event that was sent after all others.
func (b *books) follow(e *planned) {
	environments, releases := []string(nil), []string(nil)
	if r := b.records[e.key()]; r != nil {
		environments, releases = r.latest.environments, r.latest.releases
	}
	b.add(e)
	latest := &b.records[e.key()].latest
	latest.environments, latest.releases = first(e.Environment, environments), first(e.Release, releases)
}

// first is the list with the name as its first.
func first(name string, list []string) []string {
	all := []string{name}
	for _, other := range list {
		if other != name {
			all = append(all, other)
		}
	}
	return all
}

// add counts an event. The order of events between two commands does not matter.
func (b *books) add(e *planned) {
	key := e.key()
	r := b.records[key]
	if r == nil {
		r = &kept{
			problemKey: key, book: e.Book, level: e.Level, status: statusOpen,
			deployments: map[deployment]*tally{}, hours: map[int64]uint64{},
		}
		b.records[key] = r
		b.made++
		if b.gone[key] {
			b.reborn++
		}
	}
	if r.status == statusResolved {
		r.status, r.regressed = statusOpen, true
		b.regressed++
	}
	r.tally.add(e.Millis)
	r.latest.environments, r.latest.releases = nil, nil
	if severity(e.Level) > severity(r.level) {
		r.level = e.Level
	}
	at := deployment{e.Environment, e.Release}
	if r.deployments[at] == nil {
		r.deployments[at] = &tally{}
	}
	r.deployments[at].add(e.Millis)
	hour := e.Millis / millisPerHour
	r.hours[hour]++
	b.happened[happening{e.Project, e.Book, e.Level, hour}]++
}

func severity(level string) int { return slices.Index(planLevels, level) }

// changed counts the records of each book that a command changed.
type changed map[string]int

func (c changed) sum() (n int) {
	for _, records := range c {
		n += records
	}
	return n
}

// remove deletes the records and counts them.
func (b *books) remove(which []*kept) changed {
	counts := changed{}
	for _, r := range which {
		delete(b.records, r.problemKey)
		b.gone[r.problemKey] = true
		counts[r.book]++
	}
	return counts
}

// move gives the records a status and counts them.
func (b *books) move(which []*kept, status string) changed {
	counts := changed{}
	for _, r := range which {
		r.status, r.regressed = status, false
		counts[r.book]++
	}
	return counts
}

// upTo are the records of a project that were last seen at a time or earlier;
// project -1 is all of them.
func (b *books) upTo(project int, before time.Time) (found []*kept) {
	for _, r := range b.records {
		if (project < 0 || r.project == project) && r.last <= before.UnixMilli() {
			found = append(found, r)
		}
	}
	return found
}

// question is a question to the list, in its parameters, most of them lists with
// commas. Empty fields ask for nothing.
type question struct {
	Project       string `json:"project,omitempty"`
	Environment   string `json:"environment,omitempty"`
	Release       string `json:"release,omitempty"`
	Types         string `json:"types,omitempty"`
	Levels        string `json:"levels,omitempty"`
	Status        string `json:"status,omitempty"`
	Message       string `json:"message,omitempty"` // a part of it
	MinOccurrence uint64 `json:"min_occurrence,omitempty,string"`
}

// scoped says whether only some occurrences of a record are meant.
func (q question) scoped() bool { return q.Environment+q.Release != "" }

// found is a record as the answer to a question has it: with the occurrences that
// are meant.
type found struct {
	*kept
	tally tally
}

// ask are the records that answer a question, in no order.
func (b *books) ask(q question) (all []found) {
	for _, r := range b.records {
		in := found{kept: r, tally: r.in(q)}
		if in.tally.count >= max(1, q.MinOccurrence) && like(q.Project, planProjects[r.project]) &&
			like(q.Types, r.book) && like(q.Levels, r.level) && like(q.Status, r.status) && strings.Contains(r.message(), q.Message) {
			all = append(all, in)
		}
	}
	return all
}

// asked are the records of [books.ask].
func (b *books) asked(q question) (records []*kept) {
	for _, f := range b.ask(q) {
		records = append(records, f.kept)
	}
	return records
}

// in counts the occurrences in the environment and the release of a question.
func (r *kept) in(q question) (sum tally) {
	if !q.scoped() {
		return r.tally
	}
	for at, t := range r.deployments {
		if like(q.Environment, at.environment) && like(q.Release, at.release) {
			sum.merge(t)
		}
	}
	return sum
}

// like says whether a list with commas has the text; an empty one is like all. One *
// in a name of the list stands for any text.
func like(list, text string) bool {
	if list == "" {
		return true
	}
	return slices.ContainsFunc(strings.Split(list, ","), func(name string) bool {
		before, after, wild := strings.Cut(name, "*")
		if !wild {
			return name == text
		}
		return len(text) >= len(before)+len(after) && strings.HasPrefix(text, before) && strings.HasSuffix(text, after)
	})
}

// seenIn are the different environments or releases of a record.
func (r *kept) seenIn(of func(deployment) string) (names []string) {
	for at := range r.deployments {
		names = append(names, of(at))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// steps counts hours by the steps of a range.
func steps(hours map[int64]uint64, from, to time.Time, step time.Duration) []uint64 {
	counts := make([]uint64, int(to.Sub(from)/step))
	for hour, n := range hours {
		if at := time.UnixMilli(hour * millisPerHour); !at.Before(from) && at.Before(to) {
			counts[at.Sub(from)/step] += n
		}
	}
	return counts
}
