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
