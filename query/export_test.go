package query

import "time"

// SetPatience shortens the wait for an engine that does not answer.
func (r *Reader) SetPatience(d time.Duration) { r.patience = d }
