package errata

import (
	"slices"
	"strings"
)

// Level is the severity of an event. A higher level is more severe.
type Level uint8

// The levels. The zero Level means unknown.
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

// Levels are the names of all levels, the lowest first.
var Levels = levelNames[1:]

// String is the level's name in the API.
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return ""
}

// levelAliases are the levels for the words of Sentry, syslog, Monolog, zap and
// log4j.
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
	if i := slices.Index(levelNames[:], name); i > 0 {
		return Level(i), true
	}
	l, ok = levelAliases[name]
	return l, ok
}
