package projector_test

import (
	"fmt"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/signature"
)

// modelBudget is the budget of new records in the model, and what each project has
// spent of it. A history is shorter than an hour.
type modelBudget struct {
	limit            int
	records, classes map[uint64]int
	own              map[uint64]int // limits of projects in the place of limit
}

// limit puts another budget on the log, of all projects or of the one of the history.
func (h *history) limit() {
	if h.random.IntN(2) == 0 {
		h.ownLimit()
		return
	}
	h.budget.limit = h.random.IntN(8)
	h.publish("set.limits", fmt.Appendf(nil, `{"v":1,"before":{},"after":{"new_records_per_hour":%d}}`, h.budget.limit))
}

// ownLimit gives one project a limit of its own, or none, and the other one another.
func (h *history) ownLimit() {
	h.budget.own = map[uint64]int{2: 3}
	text := "null"
	if h.random.IntN(3) > 0 {
		limit := h.random.IntN(8)
		h.budget.own[1], text = limit, fmt.Sprint(limit)
	}
	for project, limit := range []string{"", text, "3"} {
		if project > 0 {
			h.publish(fmt.Sprint("set.project.", project), fmt.Appendf(nil,
				`{"v":1,"before":null,"after":{"id":%d,"limits":{"events_per_minute":null,"new_records_per_hour":%s}}}`, project, limit))
		}
	}
}

// overBudget says whether the project's budget is spent; if not, it takes one record
// from it.
func (h *history) overBudget(project uint64) bool {
	limit := h.budget.limit
	if own, has := h.budget.own[project]; has {
		limit = own
	}
	if limit == 0 {
		return false
	}
	if h.budget.records[project] >= limit {
		return true
	}
	h.budget.records[project]++
	return false
}

// overflow returns the record that counts an event after the budget is spent, and
// makes it if necessary.
func (h *history) overflow(e *errata.Event) (key string, r errata.Record, exists bool) {
	const classes = 100
	of := func(class string) string {
		return modelKey(e.Book, signature.SignOverflow(e.Book, e.Project, class))
	}
	if _, exists := h.records[of(e.Class)]; !exists {
		if h.budget.classes[e.Project]++; h.budget.classes[e.Project] > classes {
			e.Class = ""
		}
	}
	key = of(e.Class)
	r, exists = h.records[key]
	e.Signature = signature.SignOverflow(e.Book, e.Project, e.Class)
	e.Message = "New problems of the class " + e.Class + ", counted together: the project has made as many new records as it may in an hour"
	if e.Class == "" {
		e.Message = strings.Replace(e.Message, "of the class ,", "without a class, or of many classes,", 1)
	}
	*e = errata.Event{ID: e.ID, Received: e.Received, Trail: e.Trail, Book: e.Book, Signature: e.Signature, Level: e.Level, Time: e.Time, Message: e.Message, Class: e.Class,
		UserID: e.UserID, IP: e.IP, Payload: e.Payload, Project: e.Project, Environment: e.Environment, Release: e.Release}
	return key, r, exists
}

// someOverflow is the signature of an overflow record that may exist.
func (h *history) someOverflow() errata.Signature {
	class := ""
	if len(h.sent) > 0 {
		class = h.sent[h.random.IntN(len(h.sent))].Class
	}
	return signature.SignOverflow(errata.Books[h.random.IntN(2)], projectOf(h.random.IntN(problems)), class)
}
