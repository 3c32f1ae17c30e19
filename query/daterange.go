package query

import (
	"strconv"
	"strings"
	"time"
)

// rangeSeparators stand between two ends. Those with blanks are looked for in
// the text with a blank at either side, so that an end may be missing.
var rangeSeparators = []string{"..", ",", " to ", " - "}

// parseDateRange reads a range of times, both ends inclusive, in UTC and to
// the millisecond; an end that is missing is the zero time. reason says what is
// wrong, "" when nothing is.
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
			// Lower case is for the word "to" and the words for days; the time
			// formats know T and Z only.
			return strings.TrimSpace(strings.ToUpper(before)), strings.TrimSpace(strings.ToUpper(after)), true
		}
	}
	return "", "", false
}

// maxAgeDigits keeps an age far below the 292 years of a Duration.
const maxAgeDigits = 5

// parseAge reads "24h" or "7d": so much time before now. Weeks and minutes are
// as good.
func parseAge(text string) (time.Duration, bool) {
	units := map[byte]time.Duration{'m': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	text = strings.ToLower(text)
	if len(text) < 2 || len(text) > maxAgeDigits {
		return 0, false
	}
	unit, known := units[text[len(text)-1]]
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 32)
	if !known || err != nil {
		return 0, false
	}
	return time.Duration(n) * unit, true
}

// parseEnd reads one end of a range: a day or an instant, as the first and the
// last millisecond of it.
func parseEnd(text string, now time.Time) (first, last time.Time, ok bool) {
	if first, last, ok = parseDay(text, now); ok {
		return first, last, true
	}
	// In a query string a + that was not escaped arrives as a blank.
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
