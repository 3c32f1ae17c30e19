package errata

import "strings"

// Level is the severity of an event, ordered from the mildest to the gravest.
type Level uint8

// The levels. The zero Level means "not said".
const (
	LevelUnknown Level = iota
	LevelDebug
	LevelInfo
	LevelNotice
	LevelWarning
	LevelError
	LevelCritical
	LevelFatal
)

var levelNames = [...]string{"", "debug", "info", "notice", "warning", "error", "critical", "fatal"}

// Levels are the names of all levels, mildest first.
var Levels = levelNames[1:]

// String is the level's name in the API.
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return ""
}

// levelAliases maps what clients write to our levels: Sentry's, syslog's,
// Monolog's, zap's and log4j's words.
var levelAliases = map[string]Level{
	"trace": LevelDebug, "verbose": LevelDebug, "fine": LevelDebug,
	"information": LevelInfo, "log": LevelInfo,
	"warn": LevelWarning,
	"err":  LevelError, "severe": LevelError,
	"crit":  LevelCritical,
	"alert": LevelFatal, "emergency": LevelFatal, "emerg": LevelFatal, "panic": LevelFatal, "dpanic": LevelFatal,
}

// ParseLevel reads a level's name or one of its aliases, in any case. ok is
// false for any other text.
func ParseLevel(name string) (l Level, ok bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	for i, n := range levelNames[1:] {
		if n == name {
			return Level(i + 1), true
		}
	}
	l, ok = levelAliases[name]
	return l, ok
}
