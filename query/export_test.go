package query

import "time"

// SetPatience shortens the wait for an engine that does not answer.
func (r *Reader) SetPatience(d time.Duration) { r.patience = d }

// Counted has the reader know of so many rows.
func (r *Reader) Counted(rows uint64) { r.counted.Store(rows) }
