package logcare

import (
	"time"

	"github.com/errata-log/errata/eventlog"
)

// Gap is a gap of the log, as the API returns it.
type Gap struct {
	From        uint64 `json:"from"`
	To          uint64 `json:"to"`
	Why         string `json:"why"` // missing, unreadable, older
	LeastEvents uint64 `json:"least_events"`
	MostEvents  uint64 `json:"most_events"`
	// Others is how many of the facts may have been commands or settings.
	Others uint64 `json:"others"`
	Files  string `json:"files"`
	By     string `json:"by"` // policy, operator
	Name   string `json:"name"`
}

// Gaps converts gaps of the log. The list is empty, not nil, when there are none.
func Gaps(gaps []eventlog.Gap) []Gap {
	list := make([]Gap, 0, len(gaps))
	for _, g := range gaps {
		list = append(list, Gap{
			From: g.From, To: g.To, Why: g.Why, LeastEvents: g.Events.Least, MostEvents: g.Events.Most,
			Others: g.Events.Others, Files: g.Files, By: g.By, Name: g.Name,
		})
	}
	return list
}

// State lists the gaps of the log, as far as they are known.
type State struct {
	Policy Policy `json:"policy"`
	// Open are the gaps that no operator has accepted, Settled the accepted ones.
	Open    []Gap `json:"open"`
	Settled []Gap `json:"settled"`
	// Back are gaps whose facts are on the log again, but not in the records.
	Back []Gap `json:"back"`
	// Looked is when the whole log was last read, nil for never.
	Looked *time.Time `json:"looked"`
}

// Report is what reading every fact of the log found.
type Report struct {
	OK     bool   `json:"ok"`
	First  uint64 `json:"first"`
	Last   uint64 `json:"last"`
	Facts  uint64 `json:"facts"` // only good ones
	Blocks uint64 `json:"blocks"`
	Events uint64 `json:"events"`
	Bytes  uint64 `json:"bytes"`
	Gaps   []Gap  `json:"gaps"`
}
