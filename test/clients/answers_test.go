//go:build clients

package clients

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// line is a record as the list shows it.
type line struct {
	ID        uint64    `json:"id"`
	Signature string    `json:"signature"`
	Type      string    `json:"type"`
	Level     string    `json:"level"`
	Count     uint64    `json:"count"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	Message   string    `json:"message_preview"`
	Class     string    `json:"exception_class"`
	Status    string    `json:"status"`
	Regressed bool      `json:"regressed"`
	Project   string    `json:"project"`
	ProjectID uint64    `json:"project_id"`
	// The latest first.
	Environments []string `json:"environments"`
	Releases     []string `json:"releases"`
}

// key is the problem that the record says it stands for.
func (l *line) key() problemKey { return problemKey{slices.Index(planProjects, l.Project), l.Class} }

// listMeta is what a list says about itself.
type listMeta struct {
	Total    int  `json:"total"`
	NextPage int  `json:"next_page"`
	Scoped   bool `json:"scoped"`
}

// list is the whole answer to a question, page by page, in an order.
func (s *scenario) list(t *testing.T, q question, order string) []line {
	t.Helper()
	values := q.values()
	values.Set("limit", "100")
	values.Set("order", order)
	var all []line
	want := len(s.books.ask(q))
	for page := 1; page != 0; {
		values.Set("page", strconv.Itoa(page))
		from := s.unchecked
		if page == 1 {
			from = s.Service
		}
		body := from.Get(t, listPath+"?"+values.Encode())
		var answer struct {
			Data []line   `json:"data"`
			Meta listMeta `json:"meta"`
		}
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			t.Fatalf("%v in %.1000s", err, body)
		}
		if answer.Meta.Total != want || answer.Meta.Scoped != q.scoped() {
			t.Errorf("page %d of %+v: meta %+v, want total %d, scoped %v", page, q, answer.Meta, want, q.scoped())
		}
		all = append(all, answer.Data...)
		page = answer.Meta.NextPage
	}
	return all
}

// values are the parameters of a question.
func (q question) values() url.Values {
	values := url.Values{}
	for name, value := range map[string]string{
		"project": q.Project, "environment": q.Environment, "release": q.Release,
		"types": q.Types, "levels": q.Levels, "status": q.Status, "message": q.Message,
	} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if q.MinOccurrence > 0 {
		values.Set("min_occurrence", strconv.FormatUint(q.MinOccurrence, 10))
	}
	return values
}

// span is the range of an answer about time.
type span struct {
	Step string    `json:"step"`
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// steps counts hours by the steps of the span.
func (r span) steps(hours map[int64]uint64) []uint64 {
	step := time.Hour
	if r.Step == "day" {
		step = 24 * time.Hour
	}
	return steps(hours, r.From, r.To, step)
}

// overview is the answer to the question what happened.
type overview struct {
	span
	Series []struct {
		Type, Level string
		Counts      []uint64
	}
	Growing []struct {
		Record      line
		Before, Now uint64
	}
	Noisy []struct {
		Record line
		Count  uint64
	}
	ByProject []struct {
		Project   string
		ProjectID uint64 `json:"project_id"`
		Events    uint64
	} `json:"by_project"`
}

// projectTotals are what a project has.
type projectTotals struct {
	Records uint64 `json:"records"`
	Events  uint64 `json:"events_24h"`
}

// trend is one of the answers about many records.
type trend struct {
	Signature, Type string
	Total           uint64
	Counts          []uint64
}

// trends asks for the trends of records, as many as one question may have; those of
// other projects than the one that is named, if any, are to be zero.
func (s *scenario) trends(t *testing.T, lines []line, over, project string) (r span, all []trend) {
	t.Helper()
	names := make([]string, len(lines))
	for i, l := range lines {
		names[i] = l.Type + ":" + l.Signature
	}
	var answer struct {
		span
		Trends []trend
	}
	values := url.Values{"range": {over}, "signatures": {strings.Join(names, ",")}}
	if project != "" {
		values.Set("project", project)
	}
	s.unchecked.GetData(t, listPath+"/trends?"+values.Encode(), &answer)
	return answer.span, answer.Trends
}
