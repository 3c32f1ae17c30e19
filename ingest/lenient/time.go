package lenient

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// layouts are the formats of a time as text, the most frequent first. A time without
// a zone is UTC. All formats accept a fraction of a second.
var layouts = []string{
	time.RFC3339,
	"2006-01-02T15:04:05",
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05",
	"2006-01-02T15:04:05Z0700",
}

// Time reads a point in time: RFC 3339 with or without a zone, or the number of
// seconds, milliseconds, microseconds or nanoseconds since 1970. The size of the number
// shows the unit. ok is false for any other text.
func Time(text string) (t time.Time, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > 64 {
		return time.Time{}, false
	}
	if len(text) >= 19 && text[4] == '-' {
		for _, layout := range layouts {
			if t, err := time.Parse(layout, text); err == nil {
				return t.UTC(), true
			}
		}
		return time.Time{}, false
	}
	return number(text)
}

// The limits between the units: 1e11 is the year 5138 in seconds and the year 1973 in
// milliseconds.
const (
	maxSeconds = 1e11
	maxMillis  = 1e14
	maxMicros  = 1e17
)

// number reads a number as a time. It reads decimals exactly: a float64 holds today's
// seconds to about 0.2 µs only.
func number(text string) (time.Time, bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || strings.ContainsAny(fraction, "eE+-") {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.Abs(f) >= math.MaxInt64 || math.IsNaN(f) {
			return time.Time{}, false
		}
		n, fraction = int64(f), ""
		if math.Abs(f) < maxSeconds {
			return time.UnixMicro(int64(math.Round(f * 1e6))).UTC(), true
		}
	}
	switch size := max(n, -n); {
	case size < 0: // the most negative int64 has no opposite
		return time.Time{}, false
	case size < maxSeconds:
		nanos, ok := nanosOf(fraction)
		if strings.HasPrefix(whole, "-") {
			nanos = -nanos
		}
		return time.Unix(n, nanos).UTC(), ok
	case size < maxMillis:
		return time.UnixMilli(n).UTC(), true
	case size < maxMicros:
		return time.UnixMicro(n).UTC(), true
	default:
		return time.Unix(0, n).UTC(), true
	}
}

// nanosOf reads the digits after the point as nanoseconds. Digits after the ninth are
// dropped.
func nanosOf(fraction string) (int64, bool) {
	const digits = 9
	if fraction == "" {
		return 0, true
	}
	if len(fraction) > digits {
		fraction = fraction[:digits]
	}
	n, err := strconv.ParseUint(fraction, 10, 32)
	if err != nil {
		return 0, false
	}
	for range digits - len(fraction) {
		n *= 10
	}
	return int64(n), true
}
