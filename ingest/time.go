package ingest

import (
	"time"

	"github.com/errata-log/errata/ingest/lenient"
)

// SetTime reads the time that the client sent; "" when it sent none.
func (d *Draft) SetTime(text string) {
	at, ok := lenient.Time(text)
	if ok && at.IsZero() {
		at = at.Add(1) // the zero Time means that the client sent none
	}
	d.Time, d.NoTime = at, !ok && text != ""
}

// Time gives the time at of a client's clock, or received if at is in the future or
// too long ago. The result is in whole milliseconds.
func Time(at, received time.Time) time.Time {
	at, _ = timeOf(&Draft{Time: at}, Source{Received: received})
	return at
}

// receivedAt is Received as events have it.
func (s Source) receivedAt() time.Time { return s.Received.UTC().Truncate(time.Millisecond) }

// timeOf is the time of an error: that of the draft, corrected by the drift of the
// client's clock, or the time at which it was received if that is in the future or too
// long ago. why says why the time of the client was replaced, "" if it was not. In an
// archive any time since 1970 is believed.
func timeOf(d *Draft, src Source) (at time.Time, why Reason) {
	received := src.receivedAt()
	switch {
	case d.NoTime:
		return received, TimeUnreadable
	case d.Time.IsZero():
		return received, ""
	}
	at = d.Time
	if !d.SentAt.IsZero() {
		if drift := received.Sub(d.SentAt); drift > minDrift || drift < -minDrift {
			at = at.Add(drift)
		}
	}
	at = at.UTC().Truncate(time.Millisecond)
	oldest := received.Add(-maxAge)
	if src.Archive {
		oldest = time.Unix(0, 0)
	}
	switch {
	case at.After(received):
		return received, TimeInFuture
	case at.Before(oldest):
		return received, TimeTooOld
	default:
		return at, ""
	}
}
