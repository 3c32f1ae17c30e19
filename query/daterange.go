package query

import (
	"strconv"
	"strings"
	"time"
)

// rangeSeparators are the texts between the two ends of a range. [cutRange] adds
// a blank on each side of the range, so that " to " is found without an end too.
var rangeSeparators = []string{"..", ",", " to ", " - "}

// parseDateRange reads a range of times in UTC, to the millisecond. Both ends
// are inclusive; a missing end is the zero time. reason says what is wrong with
// the text, and is "" when nothing is wrong.
func parseDateRange(text string, now time.Time) (from, to time.Time, reason string) {
	if age, ok := parseAge(text); ok {
		return ceilMilli(now.UTC().Add(-age)), time.Time{}, ""
	}
	left, right, separated := cutRange(text)
	if !separated {
		if from, to, ok := parseDay(text, now); ok {
			return from, to, ""
		}
		return time.Time{}, time.Time{}, "is not a range of dates"
	}
	if left == "" && right == "" {
		return time.Time{}, time.Time{}, "has neither beginning nor end"
	}
	if left != "" {
		var ok bool
		if from, _, ok = parseEnd(left, now); !ok {
			return time.Time{}, time.Time{}, "does not begin with a date"
		}
	}
	if right != "" {
		var ok bool
		if _, to, ok = parseEnd(right, now); !ok {
			return time.Time{}, time.Time{}, "does not end with a date"
		}
	}
	if left != "" && right != "" && to.Before(from) {
		return time.Time{}, time.Time{}, "ends before it begins"
	}
	return from, to, ""
}

func cutRange(text string) (left, right string, found bool) {
	padded := " " + strings.ToLower(text) + " "
	for _, separator := range rangeSeparators {
		if before, after, ok := strings.Cut(padded, separator); ok {
			// Lower case finds the separator "to". The time formats know only the
			// capital letters T and Z.
			return strings.TrimSpace(strings.ToUpper(before)), strings.TrimSpace(strings.ToUpper(after)), true
		}
	}
	return "", "", false
}

// maxAgeLength is the length of the longest age, unit included: 9999w is 192
// years, and a Duration holds 292.
const maxAgeLength = 5

// parseAge reads an age, a time before now: a number and the unit m, h, d or w.
func parseAge(text string) (time.Duration, bool) {
	units := map[byte]time.Duration{'m': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	text = strings.ToLower(text)
	if len(text) < 2 || len(text) > maxAgeLength {
		return 0, false
	}
	unit, known := units[text[len(text)-1]]
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 32)
	if !known || err != nil {
		return 0, false
	}
	return time.Duration(n) * unit, true
}

// parseEnd reads one end of a range, a day or an instant, and returns its first
// and its last millisecond. A fraction of a millisecond rounds first up and last
// down, so the range stays inside what was asked for.
func parseEnd(text string, now time.Time) (first, last time.Time, ok bool) {
	if first, last, ok = parseDay(text, now); ok {
		return first, last, true
	}
	// A + that is not escaped in the query string arrives as a blank.
	if at := len(text) - len(" 00:00"); at > 0 && text[at] == ' ' {
		text = text[:at] + "+" + text[at+1:]
	}
	instant, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, time.Time{}, false
	}
	return ceilMilli(instant.UTC()), instant.UTC().Truncate(time.Millisecond), true
}

func parseDay(text string, now time.Time) (first, last time.Time, ok bool) {
	today := now.UTC().Truncate(24 * time.Hour)
	switch strings.ToLower(text) {
	case "today":
		first = today
	case "yesterday":
		first = today.AddDate(0, 0, -1)
	default:
		day, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return time.Time{}, time.Time{}, false
		}
		first = day
	}
	return first, first.AddDate(0, 0, 1).Add(-time.Millisecond), true
}

// ceilMilli is the first millisecond that is not before t.
func ceilMilli(t time.Time) time.Time {
	whole := t.Truncate(time.Millisecond)
	if whole.Before(t) {
		whole = whole.Add(time.Millisecond)
	}
	return whole
}
