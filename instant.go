package errata

import "time"

// Instant is a time in answers: RFC 3339 in UTC with milliseconds, null for the
// zero time.
type Instant time.Time

const instantFormat = "2006-01-02T15:04:05.000Z"

// MarshalJSON is the time in quotes, or null.
func (t Instant) MarshalJSON() ([]byte, error) {
	if time.Time(t).IsZero() {
		return []byte("null"), nil
	}
	return time.Time(t).UTC().AppendFormat(nil, `"`+instantFormat+`"`), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Instant) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*t = Instant{}
		return nil
	}
	var at time.Time
	if err := at.UnmarshalJSON(text); err != nil {
		return err
	}
	*t = Instant(at.UTC())
	return nil
}

// String is the time without quotes.
func (t Instant) String() string { return time.Time(t).UTC().Format(instantFormat) }
