package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Limits of a page of the trail.
const (
	DefaultLimit = 25
	MaxLimit     = 100
)

// scanEntries is how many entries a list that filters looks at in one go.
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
	Entries []Entry
	Limit   int
	// Next is the Before of the page that follows, 0 on the last one.
	Next uint64
}

// Trail reads the audit trail.
type Trail struct{ stream stream }

// NewTrail reads the trail that an auditor of this Config writes. Log and
// Stream are all it needs.
func NewTrail(cfg Config) *Trail { return &Trail{stream: cfg.trail()} }

// List finds entries, newest first. It looks at one page without filters, and
// at as much of the trail as it takes with them.
func (t *Trail) List(ctx context.Context, q Query) (Page, error) {
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

// actionUnreadable stands for an entry that is none: a list shows its place,
// and checking the chain says what is wrong with it.
const actionUnreadable = "audit.unreadable"

func readable(n uint64, message []byte) Entry {
	e, err := ParseEntry(message)
	if err != nil || e.Action == "" {
		return Entry{N: n, Action: actionUnreadable}
	}
	e.N = n // a page follows the numbers of the stream, whatever an entry says
	return e
}

// Verify checks the whole trail, as far as it reached when it was called.
func (t *Trail) Verify(ctx context.Context) (Report, error) {
	first, last, err := t.stream.span(ctx)
	if err != nil {
		return Report{}, err
	}
	var chain Chain
	if last > 0 {
		if err := t.stream.walk(ctx, first, last, chain.Add); err != nil {
			return Report{}, fmt.Errorf("check the audit trail: %w", err)
		}
		chain.End(last)
	}
	return chain.Report(), nil
}
