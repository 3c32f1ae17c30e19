package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/projects"
)

// Projects are the applications that send events; a *[projects.Service] has them.
type Projects interface {
	// List has also the projects of numbers that are used and that nobody made a
	// project of. Errors: log_unavailable.
	List(ctx context.Context) ([]projects.Project, error)
	// Known are this node's copy of the projects that somebody made; it never blocks.
	Known() projects.Set
	// Find and Update take a number or a slug. Errors: not_found, log_unavailable;
	// Update also log_full and those of [projects.Patch].
	Find(ctx context.Context, ref string) (projects.Project, error)
	Update(ctx context.Context, ref string, patch projects.Patch) (projects.Project, error)
	// Create makes a project and an ingest key for it, and returns the key's text.
	Create(ctx context.Context, n projects.New) (projects.Project, access.Key, string, error)
}

// projectJSON is a project in answers.
type projectJSON struct {
	projects.Project
	// DSN is that of the project's oldest ingest key that works, "" when none does.
	DSN string `json:"dsn"`
	// Totals are null when the records do not answer.
	Totals *projectTotalsJSON `json:"totals"`
	// Key is the text of the ingest key that was made with the project; nothing else
	// ever shows it.
	Key string `json:"key,omitempty"`
}

// projectTotalsJSON counts the records, and the events of 24 hours.
type projectTotalsJSON struct {
	Records uint64 `json:"records"`
	Events  uint64 `json:"events_24h"`
}

func (s *service) listProjects(c *call) (answer, error) {
	all, err := s.Projects.List(c.Request.Context())
	if err != nil {
		return answer{}, err
	}
	all = slices.DeleteFunc(all, func(p projects.Project) bool { return !c.sees(p.ID) })
	dsns, totals := s.dsns(c), s.projectTotals(c)
	return answer{data: mapped(all, func(p *projects.Project) projectJSON {
		return projectJSON{Project: *p, DSN: dsns[p.ID], Totals: totals(p.ID)}
	})}, nil
}

// listNoiseSets are the ready sets that a noise rule may name.
func (s *service) listNoiseSets(*call) (answer, error) {
	return answer{data: projects.NoiseSets()}, nil
}

func (s *service) getProject(c *call) (answer, error) {
	p, err := s.ownProject(c)
	if err != nil {
		return answer{}, err
	}
	return s.oneProject(c, p)
}

// oneProject answers a project with what it has.
func (s *service) oneProject(c *call, p projects.Project) (answer, error) {
	return answer{data: projectJSON{Project: p, DSN: s.dsns(c)[p.ID], Totals: s.projectTotals(c)(p.ID)}}, nil
}

// projectTotals reads the totals of all projects that the caller may see. Projects are
// shown, and can be changed, while the records do not answer.
func (s *service) projectTotals(c *call) func(number uint64) *projectTotalsJSON {
	all, err := s.Insights.ProjectTotals(c.Request.Context(), c.visible())
	if err != nil {
		if c.Request.Context().Err() == nil { // else nobody waits for the answer
			s.Logger.WarnContext(c.Request.Context(), "projects are shown without their totals", "error", err, "request_id", c.requestID)
		}
		return func(uint64) *projectTotalsJSON { return nil }
	}
	return func(number uint64) *projectTotalsJSON {
		return &projectTotalsJSON{all[number].Records, all[number].Events}
	}
}

func (s *service) updateProject(c *call, patch projects.Patch) (answer, error) {
	own, err := s.ownProject(c)
	if err != nil {
		return answer{}, err
	}
	// By its number: its slug may become that of another project meanwhile.
	p, err := s.Projects.Update(c.Request.Context(), strconv.FormatUint(own.ID, 10), patch)
	if err != nil {
		return answer{}, err
	}
	return s.oneProject(c, p)
}

// ownProject is the project that the path names, if the caller sees it. Errors:
// not_found, log_unavailable.
func (s *service) ownProject(c *call) (projects.Project, error) {
	p, err := s.Projects.Find(c.Request.Context(), c.Param("project"))
	if err == nil && !c.sees(p.ID) {
		return projects.Project{}, projects.ErrNotFound
	}
	return p, err
}

func (s *service) createProject(c *call, body projects.New) (answer, error) {
	p, key, text, err := s.Projects.Create(c.Request.Context(), body)
	if err != nil {
		return answer{}, err
	}
	scheme, host := s.publicAddress(c)
	return answer{status: http.StatusCreated, data: projectJSON{Project: p, DSN: key.DSN(scheme, host), Key: text, Totals: &projectTotalsJSON{}}}, nil
}

// dsns are the DSNs of projects, by their numbers.
func (s *service) dsns(c *call) map[uint64]string {
	scheme, host := s.publicAddress(c)
	dsns := map[uint64]string{}
	for _, key := range s.Keys.List() { // oldest first
		if _, older := dsns[key.Project]; key.Kind == access.KindIngest && !older && stateOf(key, s.Now()) == "active" {
			dsns[key.Project] = key.DSN(scheme, host)
		}
	}
	return dsns
}

// numberIn reads a whole number.
func numberIn(field string, sent json.RawMessage) (n int, err error) {
	if string(sent) == "null" || json.Unmarshal(integral(sent), &n) != nil {
		return 0, wrongType(field, sent, "a whole number")
	}
	return n, nil
}

// integral is a whole number as encoding/json takes it: 5.0 is one too, and some clients write
// it so. Anything else stays as it is.
func integral(sent json.RawMessage) json.RawMessage {
	digits, zeros, found := bytes.Cut(sent, []byte("."))
	if found && len(digits) > 0 && len(zeros) > 0 && len(bytes.Trim(zeros, "0")) == 0 {
		return digits
	}
	return sent
}

// limitIn reads a whole number that is not negative, or null. Errors: invalid_number,
// invalid_body.
func limitIn(field string, sent json.RawMessage) (limit projects.Limit, err error) {
	if string(sent) == "null" {
		return projects.Limit{}, nil
	}
	n, err := numberIn(field, sent)
	if err != nil {
		return projects.Limit{}, wrongType(field, sent, "a whole number or null")
	}
	if n < 0 {
		return projects.Limit{}, refuse(errata.KindInvalidNumber, field, "The field "+field+" is a number from 0 (no limit) up, or null for the limit of the service.")
	}
	return projects.Limit{Set: true, Max: uint64(n)}, nil
}

// objectsIn reads an array of objects into structs.
func objectsIn[T any](field string, sent json.RawMessage) ([]T, error) {
	var elements []json.RawMessage
	if sent[0] != '[' || json.Unmarshal(sent, &elements) != nil {
		return nil, wrongType(field, sent, "an array of objects")
	}
	values := make([]T, 0, len(elements))
	for i, element := range elements {
		value, err := objectIn[T](fmt.Sprintf("%s[%d]", field, i), element)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}
