package alerts

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	errata "github.com/errata-log/errata"
)

const (
	// maxRules and maxChannels keep all of them in one fact far below the largest message,
	// and the work for each event small.
	maxRules    = 100
	maxChannels = 50
	// maxName must fit into one line of a list.
	maxName = 100
	// maxListed bounds each list of a rule.
	maxListed = 50
	// maxSignatures is how many records a rule can name: people follow some, and all rules
	// must fit into one fact.
	maxSignatures = 500
	// maxText is the longest name in such a list, in bytes; environments are as long.
	maxText = 200
	// maxMinutes is a day: windows are kept in memory.
	maxMinutes = 24 * 60
	// maxThrottle is a week.
	maxThrottle = 7 * 24 * 60
	// maxCount is more events than a record ever gets.
	maxCount = 1_000_000_000
	// minFactor and maxFactor bound how many times as many events a spike has.
	minFactor = 2
	maxFactor = 1000
	// minPeriod and maxPeriod bound the period of a spike, in minutes: a week has 2,016 of the
	// shortest ones.
	minPeriod = 5
	maxPeriod = minutesPerDay
	// minQuiet is more than clocks differ, maxQuiet is a week.
	minQuiet = 5
	maxQuiet = minutesPerWeek
	// MaxUsers bounds what is remembered to tell users apart.
	MaxUsers = 10_000
)

// check says what is wrong with a rule. channels are those that there are.
func (r *Rule) check(channels Channels) error {
	if err := checkName(r.Name, "rule"); err != nil {
		return err
	}
	if err := r.checkCondition(); err != nil {
		return err
	}
	if len(r.To) == 0 || len(r.To) > maxChannels {
		return invalid("to", "to names at least one channel by its id.")
	}
	for i, id := range r.To {
		if _, found := channels.Find(id); !found || slices.Contains(r.To[:i], id) {
			return invalid("to["+strconv.Itoa(i)+"]", "There is no channel with the id %.40q, or it is named twice.", id)
		}
	}
	return nil
}

// checkCondition says what is wrong with what fires the rule.
func (r *Rule) checkCondition() error {
	for _, list := range []struct {
		field string
		texts []string
		known []string // nil for any
	}{
		{"environments", r.Environments, nil},
		{"levels", r.Levels, errata.Levels},
		{"books", r.Books, bookNames()},
	} {
		if err := checkList(list.field, list.texts, list.known); err != nil {
			return err
		}
	}
	if len(r.Projects) > maxListed || slices.Contains(r.Projects, 0) {
		return invalid("projects", "projects is a list of at most %d numbers of projects; an empty one stands for all.", maxListed)
	}
	if err := checkSignatures(r.Signatures); err != nil {
		return err
	}
	if len(r.Search) > maxText || !utf8.ValidString(r.Search) {
		return invalid("search", "search has at most %d bytes.", maxText)
	}
	if err := r.When.check(); err != nil {
		return err
	}
	if r.ThrottleMinutes < 0 || r.ThrottleMinutes > maxThrottle {
		return invalid("throttle_minutes", "throttle_minutes is a number from 0 to %d, which is a week.", maxThrottle)
	}
	return nil
}

func (w *When) check() error {
	if *w == (When{}) {
		return invalid("when", "when has at least one of new, regressed, reached, frequency, spike and quiet.")
	}
	if w.Reached != nil && (w.Reached.Count < 2 || w.Reached.Count > maxCount) {
		return invalid("when.reached.count", "when.reached.count is a number from 2 to %d; the first event is when.new.", maxCount)
	}
	if f := w.Frequency; f != nil {
		switch {
		case f.Count < 1 || f.Count > maxCount:
			return invalid("when.frequency.count", "when.frequency.count is a number from 1 to %d.", maxCount)
		case f.Users > MaxUsers:
			return invalid("when.frequency.users", "when.frequency.users is a number from 0 (any) to %d.", MaxUsers)
		case f.Minutes < 1 || f.Minutes > maxMinutes:
			return invalid("when.frequency.minutes", "when.frequency.minutes is a number from 1 to %d.", maxMinutes)
		}
	}
	return w.checkProjects()
}

// checkProjects checks what is about projects.
func (w *When) checkProjects() error {
	if s := w.Spike; s != nil {
		switch {
		case s.Factor < minFactor || s.Factor > maxFactor:
			return invalid("when.spike.factor", "when.spike.factor is a number from %d to %d.", minFactor, maxFactor)
		case s.Minutes < minPeriod || s.Minutes > maxPeriod:
			return invalid("when.spike.minutes", "when.spike.minutes is a number from %d to %d.", minPeriod, maxPeriod)
		}
	}
	if q := w.Quiet; q != nil && (q.Minutes < minQuiet || q.Minutes > maxQuiet) {
		return invalid("when.quiet.minutes", "when.quiet.minutes is a number from %d to %d.", minQuiet, maxQuiet)
	}
	return nil
}

func checkSignatures(list []string) error {
	if len(list) > maxSignatures {
		return invalid("signatures", "signatures names at most %d records; make another rule for more.", maxSignatures)
	}
	for i, text := range list {
		if _, err := errata.ParseSignature(text); err != nil {
			at := "signatures[" + strconv.Itoa(i) + "]"
			return invalid(at, "%s is a signature: 32 hexadecimal digits.", at)
		}
	}
	return nil
}

func bookNames() (names []string) {
	for _, book := range errata.Books {
		names = append(names, book.String())
	}
	return names
}

// checkList checks a list of names, of which known are all there are; nil stands for any.
func checkList(field string, texts, known []string) error {
	if len(texts) > maxListed {
		return invalid(field, "%s has at most %d names.", field, maxListed)
	}
	for i, text := range texts {
		at := field + "[" + strconv.Itoa(i) + "]"
		switch {
		case known != nil && !slices.Contains(known, text):
			return invalid(at, "%s is one of %s.", at, strings.Join(known, ", "))
		case len(text) > maxText || !utf8.ValidString(text):
			return invalid(at, "%s has at most %d bytes.", at, maxText)
		}
	}
	return nil
}

// checkName checks the name of a rule or a channel.
func checkName(name, of string) error {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if n := utf8.RuneCountInString(name); n == 0 || n > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unprintable) {
		return errata.Errorf(errata.KindInvalidName, "Give the %s a name of at most %d printable characters.", of, maxName).With(map[string]any{"field": "name"})
	}
	return nil
}

// invalid is an error about a field of a rule or a channel.
func invalid(field, format string, args ...any) error {
	return errata.Errorf(errata.KindInvalidAlert, format, args...).With(map[string]any{"field": field})
}
