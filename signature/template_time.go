package signature

import (
	"cmp"
	"slices"
	"strings"
)

// This file finds dates, times, durations and sizes. As in template_addr.go,
// each function returns the end of what it found, 0 for nothing.

// dateAt finds a date, a time or both that begin with a digit:
// 2026-11-21T03:04:05.6Z, 21/11/2026 03:04, 20261121T030405Z, 03:04:05.
func dateAt(s string, i int) int {
	end := dayAt(s, i)
	if end == 0 {
		return timeAt(s, i, false)
	}
	if end < len(s) && strings.IndexByte("Tt :", s[end]) >= 0 {
		if after := timeAt(s, end+1, true); after > 0 {
			return after
		}
	}
	return endOfWord(s, end)
}

// dayAt finds a date: year first, year last, or compact with its time.
func dayAt(s string, i int) int {
	a, end := shortNumber(s, i, 8)
	switch n := end - i; {
	case n == 8 && end < len(s) && s[end] == 'T':
		if t := digitsEnd(s, end+1); t-end == 7 || t-end == 5 {
			if t < len(s) && s[t] == 'Z' {
				t++
			}
			return t
		}
		return 0
	case n != 4 && n > 2 || n == 0 || end == len(s) || strings.IndexByte("-/.", s[end]) < 0:
		return 0
	}
	sep, first := s[end], end-i
	b, bEnd := shortNumber(s, end+1, 2)
	if bEnd == end+1 || bEnd == len(s) || s[bEnd] != sep {
		return 0
	}
	c, cEnd := shortNumber(s, bEnd+1, 4)
	last := cEnd - bEnd - 1
	if cEnd < len(s) && isDigit(s[cEnd]) {
		return 0
	}
	switch {
	case first == 4 && (last == 1 || last == 2):
		if isYear(a) && b >= 1 && b <= 12 && c >= 1 && c <= 31 {
			return cEnd
		}
	case first <= 2 && last == 4:
		if isYear(c) && a >= 1 && b >= 1 && a <= 31 && b <= 31 && (a <= 12 || b <= 12) {
			return cEnd
		}
	}
	return 0
}

func isYear(n int) bool { return n >= 1900 && n < 2200 }

// timeAt finds a time with its fraction and zone. Without a date before it, it
// must have seconds: "10:20" can also be a line and a column.
func timeAt(s string, i int, afterDate bool) int {
	hour, end := shortNumber(s, i, 2)
	if end == i || hour > 24 {
		return 0
	}
	parts := 1
	for parts < 3 && end+2 < len(s) && s[end] == ':' {
		n, e := shortNumber(s, end+1, 2)
		if e != end+3 || n > 60 {
			break
		}
		end, parts = e, parts+1
	}
	if parts == 1 || parts == 2 && !afterDate || end < len(s) && (isDigit(s[end]) || s[end] == ':' && end+1 < len(s) && isDigit(s[end+1])) {
		return 0
	}
	if end+1 < len(s) && (s[end] == '.' || s[end] == ',') && isDigit(s[end+1]) {
		end = digitsEnd(s, end+1)
	}
	if zone := zoneAt(s, end); zone > 0 {
		return zone
	}
	return endOfWord(s, end)
}

// zones are the names of zones that can stand behind a time.
var zones = [...]string{"UTC", "GMT", "CEST", "CET", "BST", "EST", "EDT", "CST", "CDT", "MST", "MDT", "PST", "PDT", "IST", "JST", "AM", "PM"}

// zoneAt finds the zone behind a time: Z, +01:00, " +0000 UTC", " PM", " GMT+0000".
func zoneAt(s string, i int) int {
	end := i
	for range 2 {
		k := skip(s, end, ' ')
		next := cmp.Or(zoneNameAt(s, k), offsetAt(s, k))
		if next == 0 || isWordAt(s, next) {
			break
		}
		end = next
	}
	if end == i {
		return 0
	}
	return end
}

func zoneNameAt(s string, i int) int {
	if i < len(s) && s[i] == 'Z' {
		return i + 1
	}
	for _, z := range zones {
		if strings.HasPrefix(s[i:], z) {
			return max(i+len(z), offsetAt(s, i+len(z)))
		}
	}
	return 0
}

// offsetAt finds an offset from UTC: +0100 or +01:00.
func offsetAt(s string, i int) int {
	if i >= len(s) || s[i] != '+' && s[i] != '-' {
		return 0
	}
	end := digitsEnd(s, i+1)
	if end == i+3 && end < len(s) && s[end] == ':' {
		if m := digitsEnd(s, end+1); m == end+3 {
			return m
		}
	}
	if end == i+5 {
		return end
	}
	return 0
}

const months = "JanFebMarAprMayJunJulAugSepOctNovDec"
const weekdays = "MonTueWedThuFriSatSun"

// textDateAt finds a date with the name of its month: Mon, 02 Jan 2006
// 15:04:05 GMT; Jan _2 15:04:05; 02/Jan/2006:15:04:05 +0000; May 5, 2026.
func textDateAt(s string, i int) int {
	k := i
	if end := nameAt(s, i, weekdays); end > 0 {
		k = skip(s, skip(s, end, ','), ' ')
	}
	var end int
	if isDigit(s[min(k, len(s)-1)]) {
		end = dayMonthAt(s, k)
	} else {
		end = monthDayAt(s, k)
	}
	if end == 0 {
		return 0
	}
	if end < len(s) && strings.IndexByte(" :T", s[end]) >= 0 {
		end = max(end, timeAt(s, end+1, true))
	}
	if y, e := shortNumber(s, skip(s, end, ' '), 4); isYear(y) && e-end == 5 && !isWordAt(s, e) {
		end = e // ANSI C writes the year last
	}
	if end < len(s) && (isWordAt(s, end) || placeholderAt(s[end:]) != "") {
		return 0
	}
	return end
}

func dayMonthAt(s string, i int) int {
	day, end := shortNumber(s, i, 2)
	if end == i || day < 1 || day > 31 || end == len(s) || strings.IndexByte(" -/", s[end]) < 0 {
		return 0
	}
	sep := s[end]
	month := nameAt(s, end+1, months)
	if month == 0 {
		return 0
	}
	if month < len(s) && s[month] == sep {
		if _, y := shortNumber(s, month+1, 4); (y == month+5 || y == month+3) && !isWordAt(s, y) {
			return y
		}
	}
	return month
}

func monthDayAt(s string, i int) int {
	month := nameAt(s, i, months)
	if month == 0 || month == len(s) || s[month] != ' ' {
		return 0
	}
	i = skip(s, skip(s, month, ' '), ' ')
	day, end := shortNumber(s, i, 2)
	if end == i || day < 1 || day > 31 || end < len(s) && (isWordAt(s, end) || s[end] == '.') {
		return 0
	}
	y := skip(s, skip(s, end, ','), ' ')
	if year, e := shortNumber(s, y, 4); isYear(year) && y > end && (e == len(s) || !isWordAt(s, e) && s[e] != ':') {
		return e
	}
	return end
}

// nameAt finds the short or full name of a month or weekday in title case.
func nameAt(s string, i int, names string) int {
	if len(s)-i < 3 || !isUpper(s[i]) {
		return 0
	}
	if k := strings.Index(names, s[i:i+3]); k < 0 || k%3 != 0 {
		return 0
	}
	end := i + 3
	for end < len(s) && end-i < 9 && 'a' <= s[end] && s[end] <= 'z' {
		end++
	}
	switch s[i:end] {
	case "January", "February", "March", "April", "June", "July", "August", "September", "October", "November", "December", "Sept",
		"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday":
	default:
		if end != i+3 {
			return 0
		}
	}
	return endOfWord(s, end)
}

// The units of durations and sizes.
var (
	durationUnits = []string{"ns", "µs", "μs", "us", "ms", "s", "m", "h", "d", "min", "sec", "secs", "hrs"}
	sizeUnits     = []string{"B", "kB", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "K", "M", "G", "k"}
)

// unitAt finds numbers with units: 1h2m3.5s, 128MB.
func unitAt(s string, i int, units []string) int {
	end := i
	for end < len(s) && isDigit(s[end]) {
		first := end
		end = digitsEnd(s, end)
		if first == i && end-i <= 3 && end+4 < len(s) && s[end] == ',' && digitsEnd(s, end+1) == end+4 {
			end += 4 // 1,204ms
		}
		if end+1 < len(s) && s[end] == '.' && isDigit(s[end+1]) {
			end = digitsEnd(s, end+1)
		}
		u := end
		for isWordAt(s, u) && !isDigit(s[u]) && u-end < 5 {
			u++
		}
		if !slices.Contains(units, s[end:u]) {
			return 0
		}
		end = u
	}
	return endOfWord(s, end)
}

// shortNumber reads up to max digits.
func shortNumber(s string, i, max int) (value, end int) {
	for end = i; end < len(s) && end-i < max && isDigit(s[end]); end++ {
		value = value*10 + int(s[end]-'0')
	}
	return value, end
}

// skip steps over one c, if there is one.
func skip(s string, i int, c byte) int {
	if i < len(s) && s[i] == c {
		return i + 1
	}
	return i
}
