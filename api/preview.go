package api

import (
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
)

// previewJSON is what a rule would have fired.
type previewJSON struct {
	From     errata.Instant `json:"from"`
	To       errata.Instant `json:"to"`
	Fired    uint64         `json:"fired"`
	Messages uint64         `json:"messages"`
	// Days are periods of 24 hours up to To, the oldest first.
	Days []uint64 `json:"days"`
	// NotCounted are the causes that nobody can count any more.
	NotCounted []alerts.Cause  `json:"not_counted"`
	Latest     []rehearsedJSON `json:"latest"`
}

// rehearsedJSON is one firing of a preview.
type rehearsedJSON struct {
	Cause     alerts.Cause   `json:"cause"`
	At        errata.Instant `json:"at"`
	Type      string         `json:"type"`
	Signature string         `json:"signature"`
	Level     string         `json:"level"`
	Class     string         `json:"exception_class"`
	Message   string         `json:"message_preview"`
	// Count is that of the record with the event.
	Count   uint64 `json:"count"`
	Project uint64 `json:"project_id"`
	// Events, Usual and Minutes are those of a firing about a project, which has no record.
	Events  uint64 `json:"events"`
	Usual   uint64 `json:"usual"`
	Minutes uint64 `json:"minutes"`
}

// previewRule tries a rule that is not made yet.
func (s *service) previewRule(c *call, body alerts.RulePatch) (answer, error) {
	if err := s.checkRuleProjects(c, body); err != nil {
		return answer{}, err
	}
	rule, err := body.Draft()
	if err != nil {
		return answer{}, err
	}
	p, err := s.Insights.Preview(c.Request.Context(), rule, alerts.MessageGap)
	if err != nil {
		return answer{}, err
	}
	shown := previewJSON{
		From: errata.Instant(p.From), To: errata.Instant(p.To), Fired: p.Fired, Messages: p.Messages, Days: p.Days[:],
		NotCounted: []alerts.Cause{}, Latest: []rehearsedJSON{},
	}
	if rule.When.Regressed {
		shown.NotCounted = append(shown.NotCounted, alerts.CauseRegressed)
	}
	for i := range p.Latest {
		shown.Latest = append(shown.Latest, rehearsalOf(&p.Latest[i], p.Records))
	}
	return answer{data: shown}, nil
}

func rehearsalOf(f *alerts.Firing, records map[errata.RecordKey]errata.Record) rehearsedJSON {
	shown := rehearsedJSON{
		Cause: f.Cause, At: errata.Instant(time.UnixMilli(f.Clock)), Type: f.Record.Book.String(), Count: f.Count, Project: f.Project,
		Events: f.Events, Usual: f.Usual, Minutes: f.Minutes,
	}
	if f.Cause.OfProject() {
		return shown
	}
	record := records[f.Record]
	shown.Signature, shown.Level, shown.Class, shown.Message = f.Record.Signature.String(), f.Level.String(), record.Class, record.Message
	return shown
}
