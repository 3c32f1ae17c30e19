package settings

import "context"

// DefaultNewRecordsPerHour is more than people can read: a new problem every
// third of a second, for an hour.
const DefaultNewRecordsPerHour = 10_000

// Limits bounds what projects may have.
type Limits struct {
	// NewRecordsPerHour is how many new records one project may get in an hour,
	// 0 for any number. The projector reads it off the log, so that a replay
	// folds each event under the limit of its time.
	NewRecordsPerHour uint64 `json:"new_records_per_hour"`
}

// limits is the setting "limits". Until somebody sets it there are none.
var limits = setting[Limits]{
	name:  "limits",
	in:    func(s *Snapshot) *Limits { return &s.Limits },
	equal: func(a, b Limits) bool { return a == b },
}

// SetLimits puts the limits in force; when they are already, nothing is
// written. Errors: log_full; log_unavailable when the change may or may not take
// effect.
func (s *Store) SetLimits(ctx context.Context, to Limits) error {
	_, err := update(ctx, s, limits, func(Limits) (Limits, error) { return to, nil })
	return err
}
