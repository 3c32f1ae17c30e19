package api

import (
	"context"
	"strconv"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/audit"
)

// Audit is the audit trail.
type Audit interface {
	// List finds entries, newest first. It waits a short time for the entries
	// of the latest changes, and says when they may be missing. Errors:
	// log_unavailable.
	List(ctx context.Context, q audit.Query) (audit.Page, error)
	// Verify checks the whole chain. Errors: log_unavailable.
	Verify(ctx context.Context) (audit.Report, error)
}

var errNoAudit = errata.Errorf(errata.KindNotFound, "This service keeps no audit trail.")

func (s *service) listAudit(c *call) (answer, error) {
	if s.Audit == nil {
		return answer{}, errNoAudit
	}
	q, err := auditQuery(c)
	if err != nil {
		return answer{}, err
	}
	page, err := s.Audit.List(c.Request.Context(), q)
	return answer{data: page.Entries, meta: page}, err
}

// auditQuery reads the parameters. Errors: invalid_limit, invalid_cursor,
// invalid_date.
func auditQuery(c *call) (audit.Query, error) {
	q := audit.Query{Actor: c.Query("actor"), Action: c.Query("action")}
	var err error
	if q.Limit, q.Before, err = c.page(audit.DefaultLimit, audit.MaxLimit); err != nil {
		return q, err
	}
	for _, bound := range []struct {
		name string
		at   *time.Time
	}{{"from", &q.From}, {"to", &q.To}} {
		text := c.Query(bound.name)
		if text == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return q, errata.Errorf(errata.KindInvalidDate, "%s is a time such as 2026-11-21T00:00:00Z.", bound.name)
		}
		*bound.at = at
	}
	return q, nil
}

// page reads the parameters limit and cursor; a cursor of 0 means the first
// page. Errors: invalid_limit, invalid_cursor.
func (c *call) page(standard, most int) (limit int, cursor uint64, err error) {
	limit = standard
	if text := c.Query("limit"); text != "" {
		n, err := strconv.ParseUint(text, 10, 31)
		if limit = int(n); err != nil || limit < 1 || limit > most {
			return 0, 0, errata.Errorf(errata.KindInvalidLimit, "limit is a number from 1 to %d.", most)
		}
	}
	if text := c.Query("cursor"); text != "" {
		if cursor, err = strconv.ParseUint(text, 10, 64); err != nil || cursor < 1 {
			return 0, 0, errata.Errorf(errata.KindInvalidCursor, "cursor is the next_cursor of the page before; 0 there means that it was the last one.")
		}
	}
	return limit, cursor, nil
}

// verifyAudit answers 200 whatever it finds: the question was answered.
func (s *service) verifyAudit(c *call) (answer, error) {
	if s.Audit == nil {
		return answer{}, errNoAudit
	}
	r, err := s.Audit.Verify(c.Request.Context())
	return reply(struct {
		OK bool `json:"ok"`
		audit.Report
	}{r.Problem == nil, r}, err)
}
