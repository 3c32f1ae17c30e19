package errata

import "time"

// Alarm is something wrong that an operator has to know about: damaged or lost
// data, or a part that does not work. It stands until it is mended or decided.
type Alarm struct {
	// Name tells kinds of alarms apart, in lower case with dashes: log-gap.
	Name string
	// Detail says what is wrong, with figures.
	Detail string
	// Hint says what to do next.
	Hint string
	// Since is when it was first raised after it had last been cleared.
	Since time.Time
}

// Check is one thing that a package looked at, for an operator.
type Check struct {
	Name string `json:"name"`
	// OK says that nothing has to be done now; Hint may still warn.
	OK bool `json:"ok"`
	// Detail is what was found.
	Detail string `json:"detail"`
	// Hint says what to do; "" when there is nothing to do.
	Hint string `json:"hint,omitempty"`
}
