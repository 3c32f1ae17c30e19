package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	errata "github.com/errata-log/errata"
)

// Limits of a page of the trail.
const (
	DefaultLimit = 25
	MaxLimit     = 100
)

// scanEntries is how many entries a list with filters reads at once.
const scanEntries = 1000

// Query says which entries to list.
type Query struct {
	// Limit is how many, 1 to MaxLimit; 0 means DefaultLimit.
	Limit int
	// Before is the number that the entries must be below; 0 begins with the
	// newest.
	Before uint64
	// Actor is the id or the name of a key, "" for everybody.
	Actor string
	// Action is an action, or the beginning of some with an asterisk, as in
	// "errors.*"; "" for all.
	Action string
	// From and To bound the time, both inclusive; the zero Time does not.
	From, To time.Time
}

func (q *Query) matches(e *Entry) bool {
	if q.Actor != "" && q.Actor != e.Actor.KeyID && q.Actor != e.Actor.KeyName {
		return false
	}
	if start, open := strings.CutSuffix(q.Action, "*"); open {
		if !strings.HasPrefix(e.Action, start) {
			return false
		}
	} else if q.Action != "" && q.Action != e.Action {
		return false
	}
	return (q.From.IsZero() || !e.Time.Before(q.From)) && (q.To.IsZero() || !e.Time.After(q.To))
}

// Page is a part of the trail, newest first.
type Page struct {
	Entries []Entry `json:"-"`
	// Next is the Before of the page that follows, 0 on the last one.
	Next  uint64 `json:"next_cursor"`
	Limit int    `json:"limit"`
	// Behind says that the latest changes may be missing.
	Behind bool `json:"behind,omitempty"`
}

// Trail reads the audit trail.
type Trail struct {
	stream  stream
	auditor *Auditor // who writes it here, nil for nobody
}

// Trail reads what this auditor writes.
func (a *Auditor) Trail() *Trail { return &Trail{stream: a.trail, auditor: a} }

// List finds entries, newest first, after it has waited for [Auditor.CaughtUp].
// Without filters it reads one page, with filters as much of the trail as it
// needs. Errors: log_unavailable.
func (t *Trail) List(ctx context.Context, q Query) (Page, error) {
	behind := t.auditor != nil && t.auditor.CaughtUp(ctx) != nil
	page, err := t.list(ctx, q)
	if err != nil {
		return Page{}, unavailable(err)
	}
	page.Behind = behind
	return page, nil
}

func unavailable(err error) error {
	return errata.Errorf(errata.KindLogUnavailable, "The audit trail does not answer; try again shortly.").Because(err)
}

func (t *Trail) list(ctx context.Context, q Query) (Page, error) {
	if q.Limit <= 0 {
		q.Limit = DefaultLimit
	}
	q.Limit = min(q.Limit, MaxLimit)
	page := Page{Entries: []Entry{}, Limit: q.Limit}
	first, last, err := t.stream.span(ctx)
	if err != nil {
		return Page{}, err
	}
	if q.Before > 0 {
		last = min(last, q.Before-1)
	}
	step := uint64(scanEntries)
	if q.Actor == "" && q.Action == "" && q.From.IsZero() && q.To.IsZero() {
		step = uint64(q.Limit) + 1 // one more tells whether there is a next page
	}
	for ; last >= first; last -= step {
		var part []Entry
		err := t.stream.walk(ctx, max(first, last-min(last, step)+1), last, func(n uint64, message []byte) bool {
			if e := readable(n, message); q.matches(&e) {
				part = append(part, e)
			}
			return true
		})
		if err != nil {
			return Page{}, err
		}
		for _, entry := range slices.Backward(part) {
			if len(page.Entries) == q.Limit {
				page.Next = page.Entries[q.Limit-1].N
				return page, nil
			}
			page.Entries = append(page.Entries, entry)
		}
		if last <= step {
			break
		}
	}
	return page, nil
}

// actionUnreadable is the action of a message that is no entry: a list shows
// its place, and Verify says what is wrong with it.
const actionUnreadable = "audit.unreadable"

func readable(n uint64, message []byte) Entry {
	e, err := ParseEntry(message)
	if err != nil || e.Action == "" {
		return Entry{N: n, Action: actionUnreadable}
	}
	e.N = n // a page follows the numbers of the stream, whatever an entry says
	return e
}

// Verify checks the whole trail, as far as it reached when it was called. Errors:
// log_unavailable.
func (t *Trail) Verify(ctx context.Context) (Report, error) {
	first, last, err := t.stream.span(ctx)
	if err != nil {
		return Report{}, unavailable(err)
	}
	var chain Chain
	if last > 0 {
		if err := t.stream.walk(ctx, first, last, chain.Add); err != nil {
			return Report{}, unavailable(fmt.Errorf("check the audit trail: %w", err))
		}
		chain.End(last)
	}
	return chain.Report(), nil
}
