package alerts

import (
	"slices"

	errata "github.com/errata-log/errata"
)

// Rule says which events are told to whom.
type Rule struct {
	// ID is made by the service and never used again.
	ID      string `json:"id"`
	Name    string `json:"name"`
	Enabled bool   `json:"enabled"`
	// Projects, Environments, Levels and Books are what an event must be of; an empty list
	// stands for any. The record of an event has the book and the project.
	Projects     []uint64 `json:"projects"`
	Environments []string `json:"environments"`
	Levels       []string `json:"levels"`
	Books        []string `json:"books"`
	// Signatures are the records that the rule is about, in lower case; an empty list stands
	// for all.
	Signatures []string `json:"signatures"`
	// Search is a text that the message, the class or the file of the record contains, in
	// either case; "" for any.
	Search string `json:"search"`
	When   When   `json:"when"`
	// ThrottleMinutes is how long the rule says nothing more about a record, or a project,
	// that it has fired for, 0 for no pause.
	ThrottleMinutes int `json:"throttle_minutes"`
	// To are the ids of channels.
	To []string `json:"to"`
	// Counting names what the rule counts of projects. It is another one whenever the rule
	// begins to count other events, so that counts of different filters never mix. It stands
	// on the log alone: nobody is shown it, and nobody sets it.
	Counting string `json:"counting,omitempty"`
}

// When says what fires a rule: any of what is set.
type When struct {
	// New is the first event of a record.
	New bool `json:"new,omitempty"`
	// Regressed is the first event of a record after it was resolved.
	Regressed bool       `json:"regressed,omitempty"`
	Reached   *Reached   `json:"reached,omitempty"`
	Frequency *Frequency `json:"frequency,omitempty"`
	Spike     *Spike     `json:"spike,omitempty"`
	Quiet     *Quiet     `json:"quiet,omitempty"`
}

// OfRecords says whether it is about records, OfProjects whether it is about projects.
func (w *When) OfRecords() bool {
	return w.New || w.Regressed || w.Reached != nil || w.Frequency != nil
}

// OfProjects is beside OfRecords.
func (w *When) OfProjects() bool { return w.Spike != nil || w.Quiet != nil }

// Reached is the event with which the count of a record becomes Count.
type Reached struct {
	Count uint64 `json:"count"`
}

// Frequency is the event with which a record has Count events, and Users different users,
// in the last Minutes. Then the counting begins anew.
type Frequency struct {
	Count uint64 `json:"count"`
	// Users is 0 when only events count.
	Users   uint64 `json:"users,omitempty"`
	Minutes int    `json:"minutes"`
}

// Least is how many events a record has at least when the rule fires for it: each event has one
// user at most.
func (f *Frequency) Least() uint64 { return max(f.Count, f.Users) }

// Spike is the event with which a project has, in one period of Minutes, Factor times as many
// events as in half of the periods of the last 7 days, and at least [MinSpike]; once in each
// period.
type Spike struct {
	Factor  int `json:"factor"`
	Minutes int `json:"minutes"`
}

// Quiet is a project that has sent nothing for Minutes; once, until it sends something.
type Quiet struct {
	Minutes int `json:"minutes"`
}

// Set is all rules in the order in which they were made. It never changes.
type Set = list[Rule]

func (r Rule) id() string { return r.ID }

// LookForQuiet says whether one of the rules looks for quiet projects, so that ticks are
// needed.
func LookForQuiet(rules Set) bool {
	return slices.ContainsFunc(rules, func(r Rule) bool { return r.Enabled && r.When.Quiet != nil })
}

// Cause is what has fired a rule.
type Cause string

// The causes.
const (
	CauseNew       Cause = "new"
	CauseRegressed Cause = "regressed"
	CauseReached   Cause = "reached"
	CauseFrequency Cause = "frequency"
	CauseSpike     Cause = "spike"
	CauseQuiet     Cause = "quiet"
)

// OfProject says whether the cause is about a project, and not about a record of it.
func (c Cause) OfProject() bool { return c == CauseSpike || c == CauseQuiet }

// Firing is one decision: an event has fired a rule, or that none came.
type Firing struct {
	// Position is the event that caused it. That of a quiet project is of the tick that has
	// shown it, with the place among the projects that it has shown: each has one of its own.
	Position errata.Position
	Rule     string
	Cause    Cause
	// Clock is the latest time at which an event was received up to then, in Unix
	// milliseconds.
	Clock int64
	// Record is the problem, ID its record and Count the events of the record with this one.
	// A quiet project has none of them.
	Record      errata.RecordKey
	ID          errata.Position
	Project     uint64
	Count       uint64
	Level       errata.Level
	Environment string
	Release     string
	// Events are those of the project in the period of a spike, Usual is their median.
	// Minutes is how long the period is, or for how long the project is quiet.
	Events, Usual, Minutes uint64
}
