package projects

// AtDoor is what the receivers of events must know of a project. Its zero value is that
// of a new project.
type AtDoor struct {
	// Archived: its events are refused.
	Archived bool `json:"archived,omitempty"`
	// EventsPerMinute is its own limit, where it has one.
	EventsPerMinute Limit `json:"events_per_minute"`
	// RetentionDays is how many days it keeps records, 0 for ever. An older time of an
	// event is not believed.
	RetentionDays int `json:"retention_days,omitempty"`
	// Context says what is kept of the context of an event.
	Context Context `json:"context,omitzero"`
	// Noise are its rules, not to be changed.
	Noise []Rule `json:"noise,omitempty"`
}

func (p Project) atDoor() AtDoor {
	return AtDoor{Archived: p.Archived, EventsPerMinute: p.Limits.EventsPerMinute, RetentionDays: p.RetentionDays, Context: p.Context, Noise: p.Noise}
}

// usual says whether it is that of a new project.
func (a AtDoor) usual() bool {
	return !a.Archived && !a.EventsPerMinute.Set && a.RetentionDays == 0 && a.Context == (Context{}) && len(a.Noise) == 0
}
