package errata

// Alarm tells an operator that something is wrong: data is damaged or lost, or a
// part does not work. It stands until somebody repairs it or decides about it.
type Alarm struct {
	// Name is the kind of alarm, in lower case with dashes: log-gap.
	Name string `json:"name"`
	// Detail says what is wrong, with numbers.
	Detail string `json:"detail"`
	// Hint says what to do next.
	Hint string `json:"hint"`
	// Since is when the alarm began to stand.
	Since Instant `json:"since"`
}

// Check is the result of one check, for an operator.
type Check struct {
	Name string `json:"name"`
	// OK says that nothing has to be done now. Hint may still warn.
	OK bool `json:"ok"`
	// Detail is what was found.
	Detail string `json:"detail"`
	// Hint says what to do; "" when there is nothing to do.
	Hint string `json:"hint,omitempty"`
}
