package projects

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	errata "github.com/errata-log/errata"
)

const (
	// DefaultNumber is the number of the project that the first start makes.
	DefaultNumber = 1
	// DefaultName is the name of that project.
	DefaultName = "default"
	// DefaultOccurrenceDays is how long a new project keeps single occurrences: a
	// problem that nobody has looked at for a month is known by its record.
	DefaultOccurrenceDays = 30
)

const (
	// maxName is the longest name in characters. It must fit into one line of a list.
	maxName = 100
	// maxPlatform is the longest platform in bytes. The longest ones of SDKs, such as
	// "javascript-react-router", have half of it.
	maxPlatform = 40
	// maxDays is a century: who wants more means for ever.
	maxDays = 36_500
	// maxLimit is more events than one machine takes in a minute or an hour, and small
	// enough that nothing overflows that counts them.
	maxLimit = 1_000_000_000
)

// Project is one application.
type Project struct {
	ID       uint64 `json:"id"`
	Slug     string `json:"slug"`
	Name     string `json:"name"`
	Platform string `json:"platform"` // "" for unknown
	// CreatedAt is the zero time where nobody noted it.
	CreatedAt errata.Instant `json:"created_at"`
	// Archived projects take no events.
	Archived bool `json:"archived"`
	// RetentionDays is how long a record is kept that is not seen any more, 0 for ever.
	RetentionDays int `json:"retention_days"`
	// OccurrenceDays is how long single occurrences are kept.
	OccurrenceDays int    `json:"occurrence_days"`
	Limits         Limits `json:"limits"`
	// Context says what is kept of the context of its events.
	Context Context `json:"context"`
	// Noise is shared by copies of the project: not to be changed.
	Noise []Rule `json:"noise"`
}

// Limits are what a project may send.
type Limits struct {
	EventsPerMinute   Limit `json:"events_per_minute"`
	NewRecordsPerHour Limit `json:"new_records_per_hour"`
}

// Limit is a number, where 0 means no limit. The zero Limit is not set: then the limit
// of the service holds. In JSON it is null.
type Limit struct {
	Set bool
	Max uint64
}

// MarshalJSON is the number, or null.
func (l Limit) MarshalJSON() ([]byte, error) {
	if !l.Set {
		return []byte("null"), nil
	}
	return strconv.AppendUint(nil, l.Max, 10), nil
}

// UnmarshalJSON reads a whole number that is not negative, or null.
func (l *Limit) UnmarshalJSON(text []byte) (err error) {
	if *l = (Limit{}); string(text) == "null" {
		return nil
	}
	l.Max, err = strconv.ParseUint(string(text), 10, 64)
	l.Set = err == nil
	return err
}

// unnamed is the project of a number that is used and that nobody has made a project of.
func unnamed(number uint64, since errata.Instant) Project {
	text := strconv.FormatUint(number, 10)
	return Project{
		ID: number, Slug: numberedSlug(number), Name: "project " + text, CreatedAt: since,
		OccurrenceDays: DefaultOccurrenceDays, Noise: []Rule{},
	}
}

// Equal says whether both have the same content.
func (p Project) Equal(other Project) bool {
	if !slices.Equal(p.Noise, other.Noise) {
		return false
	}
	return p.ID == other.ID && p.Slug == other.Slug && p.Name == other.Name && p.Platform == other.Platform &&
		p.CreatedAt.String() == other.CreatedAt.String() && p.Archived == other.Archived &&
		p.RetentionDays == other.RetentionDays && p.OccurrenceDays == other.OccurrenceDays && p.Limits == other.Limits && p.Context == other.Context
}

// check says what is wrong with the values that a caller may send, except with the slug.
// Each error names the field in its details.
func (p Project) check() error {
	if err := checkName(p.Name); err != nil {
		return err
	}
	if err := checkPlatform(p.Platform); err != nil {
		return err
	}
	if p.RetentionDays < 0 || p.RetentionDays > maxDays {
		return invalid(errata.KindInvalidNumber, "retention_days", "retention_days is a number from 0 (for ever) to %d.", maxDays)
	}
	if p.OccurrenceDays < 1 || p.OccurrenceDays > maxDays {
		return invalid(errata.KindInvalidNumber, "occurrence_days", "occurrence_days is a number from 1 to %d.", maxDays)
	}
	for _, limit := range []struct {
		name  string
		value Limit
	}{{"limits.events_per_minute", p.Limits.EventsPerMinute}, {"limits.new_records_per_hour", p.Limits.NewRecordsPerHour}} {
		if limit.value.Max > maxLimit {
			return invalid(errata.KindInvalidNumber, limit.name,
				"%s is a number from 0 (no limit) to %d, or null for the limit of the service.", limit.name, maxLimit)
		}
	}
	return checkRules(p.Noise)
}

func checkName(name string) error {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	switch length := utf8.RuneCountInString(name); {
	case length == 0:
		return invalid(errata.KindInvalidName, "name", "Give the project a name.")
	case length > maxName:
		return invalid(errata.KindInvalidName, "name", "A project's name has at most %d characters, this one has %d.", maxName, length)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unprintable):
		return invalid(errata.KindInvalidName, "name", "A project's name holds printable characters only.")
	}
	return nil
}

func checkPlatform(platform string) error {
	foreign := func(r rune) bool { return !isSlugRune(r) && r != '-' && r != '.' && r != '_' }
	if len(platform) > maxPlatform || strings.ContainsFunc(platform, foreign) {
		return invalid(errata.KindInvalidPlatform, "platform",
			"A platform is a word such as go, python-django or javascript: at most %d small letters, digits, dots, hyphens and underscores.", maxPlatform)
	}
	return nil
}

// invalid is an error about a field.
func invalid(kind errata.Kind, field, format string, args ...any) error {
	return errata.Errorf(kind, format, args...).With(map[string]any{"field": field})
}
