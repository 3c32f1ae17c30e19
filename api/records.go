package api

import (
	"context"
	"encoding/json"
	"net/url"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
)

// Records reads error records.
type Records interface {
	// List finds records of the projects by the query parameters of the list endpoint. Errors:
	// the invalid_… kind of the parameter, store_unavailable.
	List(ctx context.Context, values url.Values, among query.Projects) (query.List, error)
	// Detail finds one record with the context of its first sighting, a JSON
	// object; empty means {}. Errors: not_found, store_unavailable.
	Detail(ctx context.Context, book errata.Book, signature errata.Signature, among query.Projects) (record errata.Record, payload json.RawMessage, err error)
	// Trend reads how often a record was seen over a range such as 24h; "" is
	// the default. Errors: invalid_range, not_found, store_unavailable.
	Trend(ctx context.Context, book errata.Book, signature errata.Signature, over string, among query.Projects) (query.Trend, error)
	// ReleaseTrend reads the same by release. Errors: those of Trend.
	ReleaseTrend(ctx context.Context, book errata.Book, signature errata.Signature, over string, among query.Projects) (query.ReleaseTrend, error)
}

// recordJSON is a record in answers: the 15 fields of the first contract in
// their order, then the later ones.
type recordJSON struct {
	ID             errata.Position `json:"id"`
	Signature      string          `json:"signature"`
	Type           string          `json:"type"`
	Level          string          `json:"level"`
	Count          uint64          `json:"count"`
	FirstSeen      errata.Instant  `json:"first_seen"`
	LastSeen       errata.Instant  `json:"last_seen"`
	File           string          `json:"file"`
	Line           uint32          `json:"line"`
	MessagePreview string          `json:"message_preview"`
	ExceptionClass string          `json:"exception_class"`
	RequestURI     string          `json:"request_uri"`
	RequestMethod  string          `json:"request_method"`
	UserID         int64           `json:"user_id"`
	IP             string          `json:"ip"`
	Status         errata.Status   `json:"status"`
	Regressed      bool            `json:"regressed"`
	Project        string          `json:"project"`
	ProjectID      uint64          `json:"project_id"`
	Users          uint64          `json:"users"`
	Environments   []string        `json:"environments"`
	Releases       []string        `json:"releases"`
	Overflow       bool            `json:"overflow"`
}

type detailJSON struct {
	recordJSON
	Payload json.RawMessage `json:"payload"`
}

type pageJSON struct {
	Total    uint64 `json:"total"`
	Page     int    `json:"page"`
	Limit    int    `json:"limit"`
	NextPage int    `json:"next_page"`
	Scoped   bool   `json:"scoped"`
}

func (s *service) listErrors(c *call) (answer, error) {
	among, err := c.among()
	if err != nil {
		return answer{}, err
	}
	page, err := s.Records.List(c.Request.Context(), c.Request.URL.Query(), among)
	return answer{
		data: mapped(page.Records, s.recordOf()),
		meta: pageJSON{Total: page.Total, Page: page.Page, Limit: page.Limit, NextPage: page.NextPage, Scoped: page.Scoped},
	}, err
}

// getError answers one record with its context.
func (s *service) getError(c *call) (answer, error) {
	book, signature, err := c.record()
	if err != nil {
		return answer{}, err
	}
	record, payload, err := s.Records.Detail(c.Request.Context(), book, signature, c.visible())
	if len(payload) == 0 {
		payload = json.RawMessage("{}")
	}
	return reply(detailJSON{s.recordOf()(&record), payload}, err)
}

// mapped is the list with every element converted; it is never nil.
func mapped[T, U any](list []T, convert func(*T) U) []U {
	converted := make([]U, len(list))
	for i := range list {
		converted[i] = convert(&list[i])
	}
	return converted
}

// maxLatest is how many environments and releases of a record are shown, the latest.
const maxLatest = 3

func latest(names []string) []string {
	return append([]string{}, names[:min(len(names), maxLatest)]...)
}

// recordOf makes rows of records, with the slugs that the projects have now.
func (s *service) recordOf() func(*errata.Record) recordJSON {
	all := s.Projects.Known()
	return func(r *errata.Record) recordJSON {
		row := rowOf(r)
		row.Project = all.SlugOf(r.Project)
		return row
	}
}

func rowOf(r *errata.Record) recordJSON {
	row := recordJSON{
		ID:             r.ID,
		Signature:      r.Signature.String(),
		Type:           r.Book.String(),
		Level:          r.Level.String(),
		Count:          r.Count,
		FirstSeen:      errata.Instant(r.FirstSeen),
		LastSeen:       errata.Instant(r.LastSeen),
		File:           r.File,
		Line:           r.Line,
		MessagePreview: r.Message,
		ExceptionClass: r.Class,
		RequestURI:     r.URI,
		RequestMethod:  r.Method,
		UserID:         r.UserID,
		Status:         r.Status,
		Regressed:      r.Regressed,
		ProjectID:      r.Project,
		Users:          r.Users,
		Environments:   latest(r.Environments),
		Releases:       latest(r.Releases),
		Overflow:       r.Signature.Overflow(),
	}
	if r.IP.IsValid() {
		row.IP = r.IP.Unmap().String()
	}
	return row
}
