package projects

import (
	"strings"

	errata "github.com/errata-log/errata"
)

// New is what a new project is made of.
type New struct {
	Name     string `json:"name"`
	Platform string `json:"platform"`
}

// Patch changes what was sent. Errors are of the kinds invalid_name, invalid_slug,
// invalid_platform, invalid_number, invalid_context and invalid_noise_rule; they name the field.
type Patch struct {
	Slug           errata.Optional[string]       `json:"slug"`
	Name           errata.Optional[string]       `json:"name"`
	Platform       errata.Optional[string]       `json:"platform"`
	Archived       errata.Optional[bool]         `json:"archived"`
	RetentionDays  errata.Optional[int]          `json:"retention_days"`
	OccurrenceDays errata.Optional[int]          `json:"occurrence_days"`
	Limits         errata.Optional[LimitsPatch]  `json:"limits"`
	Context        errata.Optional[ContextPatch] `json:"context"`
	// Noise replaces the whole list.
	Noise errata.Optional[[]Rule] `json:"noise"`
}

// LimitsPatch changes the limits that were sent.
type LimitsPatch struct {
	EventsPerMinute   errata.Optional[Limit] `json:"events_per_minute"`
	NewRecordsPerHour errata.Optional[Limit] `json:"new_records_per_hour"`
}

// apply is the project after the patch, unchecked.
func (p Patch) apply(to Project) Project {
	to.Slug, to.Platform = p.Slug.Or(to.Slug), p.Platform.Or(to.Platform)
	to.Name = strings.TrimSpace(p.Name.Or(to.Name))
	to.Archived = p.Archived.Or(to.Archived)
	to.RetentionDays, to.OccurrenceDays = p.RetentionDays.Or(to.RetentionDays), p.OccurrenceDays.Or(to.OccurrenceDays)
	limits, _ := p.Limits.Get()
	to.Limits.EventsPerMinute = limits.EventsPerMinute.Or(to.Limits.EventsPerMinute)
	to.Limits.NewRecordsPerHour = limits.NewRecordsPerHour.Or(to.Limits.NewRecordsPerHour)
	context, _ := p.Context.Get()
	to.Context = context.apply(to.Context)
	to.Noise = p.Noise.Or(to.Noise)
	return to
}
