package ingest

import (
	"time"

	"github.com/errata-log/errata/ingest/lenient"
)

// minDrift is a difference between SentAt and Received that the network cannot cause: from
// it on, the difference is the error of the client's clock.
const minDrift = time.Minute

// firstTime is the first time that is believed, however long a project keeps records. A
// clock that was never set begins with 1970, 1980 or 2000, and a time that is 0, or counts
// from the start of a machine, reads as one of the 1970s.
var firstTime = time.Date(2001, time.January, 1, 0, 0, 0, 0, time.UTC)

// SetTime reads the time that the client sent; "" when it sent none.
func (d *Draft) SetTime(text string) {
	at, ok := lenient.Time(text)
	if ok && at.IsZero() {
		at = at.Add(1) // the zero Time means that the client sent none
	}
	d.Time, d.NoTime = at, !ok && text != ""
}

// Time gives the time at of a client's clock, or received if at is in the future or more
// than so many days ago. The result is in whole milliseconds.
func Time(at, received time.Time, days int) time.Time {
	at, _ = timeOf(&Draft{Time: at}, Source{Received: received, RetentionDays: days})
	return at
}

// receivedAt is Received as events have it.
func (s Source) receivedAt() time.Time { return s.Received.UTC().Truncate(time.Millisecond) }

// timeOf is the time of an error: that of the draft, corrected by the drift of the
// client's clock, or the time at which it was received if that is in the future or too
// long ago. why says why the time of the client was replaced, "" if it was not.
func timeOf(d *Draft, src Source) (at time.Time, why Reason) {
	received := src.receivedAt()
	switch {
	case d.NoTime:
		return received, TimeUnreadable
	case d.Time.IsZero():
		return received, ""
	}
	at = d.Time.Add(driftOf(src.Received.Sub(d.SentAt), d.SentAt)).UTC().Truncate(time.Millisecond)
	switch {
	case at.After(received):
		return received, TimeInFuture
	case at.Before(src.oldest()):
		return received, TimeTooOld
	default:
		return at, ""
	}
}

// driftOf is how far the client's clock is behind, by the difference between the receipt of
// a request and its sending: 0 without a time of sending, and for what the network explains.
// It is in whole seconds, rounded down, because the network takes a part of the difference
// that nobody can tell: more digits would only move events against each other.
func driftOf(apart time.Duration, sent time.Time) time.Duration {
	if sent.IsZero() || apart.Abs() < minDrift {
		return 0
	}
	drift := apart.Truncate(time.Second)
	if drift > apart {
		drift -= time.Second
	}
	return drift
}

// oldest is the first time that is believed. An older record would go with the next
// cleanup of its project; in an archive the operator wants just that.
func (s Source) oldest() time.Time {
	if s.Archive {
		return time.Unix(0, 0)
	}
	if s.RetentionDays > 0 {
		if kept := s.receivedAt().Add(-time.Duration(s.RetentionDays) * 24 * time.Hour); kept.After(firstTime) {
			return kept
		}
	}
	return firstTime
}
