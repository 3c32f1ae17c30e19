package api

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	errata "github.com/errata-log/errata"
)

// Audit is the audit trail.
type Audit interface {
	// List finds entries, newest first, once the trail has caught up with what
	// was changed before, or says that it has not. Errors: log_unavailable.
	List(ctx context.Context, q AuditQuery) (AuditPage, error)
	// Verify checks the whole chain. Errors: log_unavailable.
	Verify(ctx context.Context) (AuditReport, error)
}

// maxAuditLimit bounds a page of the trail; defaultAuditLimit is what a page
// holds when nobody says.
const (
	defaultAuditLimit = 25
	maxAuditLimit     = 100
)

// AuditQuery says which entries to list.
type AuditQuery struct {
	Limit int // 1 to 100
	// Cursor is the number that entries must be below, 0 for the newest.
	Cursor uint64
	// Actor is the id or name of a key, Action an action or, with an asterisk at
	// the end, the beginning of some; "" for all.
	Actor, Action string
	// From and To bound the time, inclusive; the zero Time does not.
	From, To time.Time
}

// AuditPage is one page of the trail.
type AuditPage struct {
	Entries []json.RawMessage
	// Next is the cursor of the page that follows, 0 on the last one.
	Next uint64
	// Behind says that the latest changes may be missing.
	Behind bool
}

// AuditReport is what checking the chain found.
type AuditReport struct {
	// Entries is how many are good, Head the hash of the last of them.
	Entries uint64
	Head    string
	// Foreign is how many messages among them somebody else has put there.
	Foreign uint64
	// Broken is the number of the first bad entry, 0 for none, and Reason what
	// is wrong with it.
	Broken uint64
	Reason string
}

type auditMetaJSON struct {
	NextCursor uint64 `json:"next_cursor"`
	Limit      int    `json:"limit"`
	Behind     bool   `json:"behind,omitempty"`
}

type auditReportJSON struct {
	OK      bool              `json:"ok"`
	Entries uint64            `json:"entries"`
	Head    string            `json:"head"`
	Foreign uint64            `json:"foreign"`
	Problem *auditProblemJSON `json:"problem"`
}

type auditProblemJSON struct {
	N      uint64 `json:"n"`
	Reason string `json:"reason"`
}

// noAudit answers where there is no trail.
func noAudit() error {
	return errata.Errorf(errata.KindNotFound, "This service keeps no audit trail.")
}

func (s *service) listAudit(c *call) (answer, error) {
	if s.Audit == nil {
		return answer{}, noAudit()
	}
	q, err := auditQuery(c)
	if err != nil {
		return answer{}, err
	}
	page, err := s.Audit.List(c.Request.Context(), q)
	if err != nil {
		return answer{}, err
	}
	entries := page.Entries
	if entries == nil {
		entries = []json.RawMessage{}
	}
	return answer{data: entries, meta: auditMetaJSON{NextCursor: page.Next, Limit: q.Limit, Behind: page.Behind}}, nil
}

// auditQuery reads the parameters. Errors: invalid_limit, invalid_cursor,
// invalid_date.
func auditQuery(c *call) (AuditQuery, error) {
	q := AuditQuery{Limit: defaultAuditLimit, Actor: c.Query("actor"), Action: c.Query("action")}
	if text := c.Query("limit"); text != "" {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil || n < 1 || n > maxAuditLimit {
			return q, errata.Errorf(errata.KindInvalidLimit, "limit is a number from 1 to %d.", maxAuditLimit)
		}
		q.Limit = int(n)
	}
	if text := c.Query("cursor"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || n < 1 {
			return q, errata.Errorf(errata.KindInvalidCursor, "cursor is the next_cursor of the page before; 0 there means that it was the last one.")
		}
		q.Cursor = n
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

// verifyAudit answers 200 whatever it finds: the question was answered.
func (s *service) verifyAudit(c *call) (answer, error) {
	if s.Audit == nil {
		return answer{}, noAudit()
	}
	r, err := s.Audit.Verify(c.Request.Context())
	if err != nil {
		return answer{}, err
	}
	told := auditReportJSON{OK: r.Broken == 0, Entries: r.Entries, Head: r.Head, Foreign: r.Foreign}
	if !told.OK {
		told.Problem = &auditProblemJSON{N: r.Broken, Reason: r.Reason}
	}
	return answer{data: told}, nil
}
