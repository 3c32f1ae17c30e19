package projects

// AtDoor is what the receivers of events must know of a project. Its zero value is that
// of a new project.
type AtDoor struct {
	// Archived: its events are refused.
	Archived bool `json:"archived,omitempty"`
	// EventsPerMinute is its own limit, where it has one.
	EventsPerMinute Limit `json:"events_per_minute"`
	// Noise are its rules, not to be changed.
	Noise []Rule `json:"noise,omitempty"`
}

func (p Project) atDoor() AtDoor {
	return AtDoor{Archived: p.Archived, EventsPerMinute: p.Limits.EventsPerMinute, Noise: p.Noise}
}
