package migrations

import "time"

var (
	// ApplyForTest applies other files than those of the program.
	ApplyForTest = apply
	// SetGranulesForTest is the step after the files, on a connection.
	SetGranulesForTest = setGranules
)

// SetGranuleWait sets how long a node waits for another one.
func SetGranuleWait(wait time.Duration) (restore func()) {
	old := granuleWait
	granuleWait = wait
	return func() { granuleWait = old }
}
