package legacy

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	_ "time/tzdata" // PHP names its zone, and a container has no files for it

	"github.com/errata-log/errata/ingest/lenient"
)

// maxStamp bounds a time in brackets: the longest zone names have 32 letters.
const maxStamp = 72

// stampKind tells the two forms of a time in brackets apart.
type stampKind uint8

const (
	noStamp  stampKind = iota
	phpStamp           // [21-Nov-2026 03:58:25 Europe/Berlin]
	isoStamp           // [2026-11-21T03:58:25.123456+00:00]
)

const (
	lenPHP     = len("21-Nov-2026 03:58:25")
	lenISO     = len("2026-11-21T03:58:25")
	monthNames = "JanFebMarAprMayJunJulAugSepOctNovDec"
)

// stampOf says whether the line begins with a time in brackets, and where the
// bracket closes. It checks only the form.
func stampOf(line []byte) (kind stampKind, end int) {
	if len(line) < lenISO+2 || line[0] != '[' {
		return noStamp, 0
	}
	end = bytes.IndexByte(line[:min(len(line), maxStamp)], ']')
	if end < lenISO+1 {
		return noStamp, 0
	}
	inside := line[1:end]
	switch {
	case hasForm(inside, "00-aaa-0000 00:00:00"):
		return phpStamp, end
	case hasForm(inside, "0000-00-00T00:00:00"):
		return isoStamp, end
	default:
		return noStamp, 0
	}
}

// hasForm compares the beginning of a text with a form: 0 stands for a digit, a
// for a letter, T for a T or a space.
func hasForm(text []byte, form string) bool {
	if len(text) < len(form) {
		return false
	}
	for i := range len(form) {
		c := text[i]
		ok := c == form[i]
		switch form[i] {
		case '0':
			ok = '0' <= c && c <= '9'
		case 'a':
			ok = 'a' <= c|0x20 && c|0x20 <= 'z'
		case 'T':
			ok = c == 'T' || c == ' '
		}
		if !ok {
			return false
		}
	}
	return true
}

// stampTime reads the time inside the brackets; the zero Time for a date or a time
// of day that does not exist.
func stampTime(kind stampKind, inside string) time.Time {
	if kind == isoStamp {
		at, _ := lenient.Time(inside)
		return at
	}
	at := strings.Index(monthNames, inside[3:6])
	if at < 0 || at%3 != 0 {
		return time.Time{}
	}
	day, year := digits(inside[0:2]), digits(inside[7:11])
	hour, minute, second := digits(inside[12:14]), digits(inside[15:17]), digits(inside[18:20])
	if day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60 {
		return time.Time{}
	}
	rest, nanos := inside[lenPHP:], 0
	if len(rest) > 1 && rest[0] == '.' { // php-fpm writes microseconds
		n := 1
		for n < len(rest) && n <= 9 && '0' <= rest[n] && rest[n] <= '9' {
			n++
		}
		nanos = digits((rest[1:n] + "000000000")[:9])
		rest = rest[n:]
	}
	zone := time.UTC
	if len(rest) > 1 && rest[0] == ' ' {
		zone = zoneOf(rest[1:])
	}
	return time.Date(year, time.Month(at/3+1), day, hour, minute, second, nanos, zone).UTC()
}

func digits(text string) (n int) {
	for i := range len(text) {
		n = n*10 + int(text[i]-'0')
	}
	return n
}

// zones is a cache of zones: a file has one or two, millions of times. maxZones
// bounds it; there are about 600 names.
var (
	zones     sync.Map // string to *time.Location
	zoneCount atomic.Int32
)

const maxZones = 1024

// zoneOf is the zone with the name, or with an offset like +01:00; UTC for an
// unknown one.
func zoneOf(name string) *time.Location {
	if name == "UTC" {
		return time.UTC
	}
	if known, ok := zones.Load(name); ok {
		return known.(*time.Location) // the map holds nothing else
	}
	if zoneCount.Load() >= maxZones {
		return time.UTC
	}
	zone := loadZone(name)
	zones.Store(strings.Clone(name), zone) // name shares the memory of its entry
	zoneCount.Add(1)
	return zone
}

func loadZone(name string) *time.Location {
	if name[0] == '+' || name[0] == '-' {
		at, err := time.Parse("-07:00", name)
		if err != nil {
			return time.UTC
		}
		_, offset := at.Zone()
		return time.FixedZone(strconv.Itoa(offset), offset)
	}
	for i := range len(name) {
		if c := name[i]; !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '/' || c == '_' || c == '-' || c == '+') {
			return time.UTC // LoadLocation makes a path of the name
		}
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return zone
}

// stampTimeIn reads "2026-11-21 03:58:25.000000" as the local time of a zone; the
// zero Time for any other text.
func stampTimeIn(text, zone string) time.Time {
	at, _ := time.ParseInLocation("2006-01-02 15:04:05", text, zoneOf(zone))
	return at.UTC()
}
