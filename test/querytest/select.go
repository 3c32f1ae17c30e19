package querytest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
)

// Seen is what a search finds in the context of a record.
type Seen struct {
	Message     string
	Causes      []string // classes and messages
	Transaction string
	EventID     string // 32 hex digits
}

// Select is every record that matches the filter, in order. Ties are broken by
// id, in the same direction. seen has the context of a record.
func Select(records []errata.Record, seen func(errata.Record) Seen, f query.Filter, order query.Order, direction query.Direction) []errata.Record {
	var found []errata.Record
	for _, r := range records {
		if matches(r, seen(r), f) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b errata.Record) int {
		c := cmp.Or(compareBy(a, b, order), cmp.Compare(a.ID, b.ID))
		if direction == query.Descending {
			return -c
		}
		return c
	})
	return found
}

// compareBy compares by the field of the order; for the order by id it says
// equal.
func compareBy(a, b errata.Record, order query.Order) int {
	switch order {
	case query.OrderLastSeen:
		return a.LastSeen.Compare(b.LastSeen)
	case query.OrderFirstSeen:
		return a.FirstSeen.Compare(b.FirstSeen)
	case query.OrderCount:
		return cmp.Compare(a.Count, b.Count)
	case query.OrderLevel:
		return cmp.Compare(a.Level, b.Level)
	case query.OrderType:
		return cmp.Compare(a.Book, b.Book)
	case query.OrderFile:
		return strings.Compare(a.File, b.File)
	case query.OrderLine:
		return cmp.Compare(a.Line, b.Line)
	case query.OrderMessage:
		return strings.Compare(a.Message, b.Message)
	case query.OrderClass:
		return strings.Compare(a.Class, b.Class)
	case query.OrderUserID:
		return cmp.Compare(a.UserID, b.UserID)
	case query.OrderID:
		return 0
	}
	panic("no such order: " + order)
}

// matches says whether a record passes all filters that are set.
func matches(r errata.Record, seen Seen, f query.Filter) bool {
	in := func(set bool, holds bool) bool { return !set || holds }
	return f.Projects.Has(r.Project) &&
		in(len(f.Books) > 0, slices.Contains(f.Books, r.Book)) &&
		in(len(f.Levels) > 0, slices.Contains(f.Levels, r.Level)) &&
		in(len(f.Statuses) > 0, slices.Contains(f.Statuses, r.Status)) &&
		in(f.Signature != nil, f.Signature != nil && *f.Signature == r.Signature) &&
		(f.Search == "" || searched(r, seen, f.Search)) &&
		matchesPattern(r.File, f.File) && matchesPattern(r.Class, f.Class) &&
		matchesPattern(r.URI, f.URI) && (matchesPattern(r.Message, f.Message) || matchesPattern(oneLine(seen.Message), f.Message)) &&
		in(f.Method != "", strings.EqualFold(f.Method, r.Method)) &&
		in(f.UserID != nil, f.UserID != nil && *f.UserID == r.UserID) &&
		in(f.IP.IsValid(), f.IP.Contains(r.IP)) &&
		r.Count >= f.MinOccurrence &&
		in(!f.From.IsZero(), !r.LastSeen.Before(f.From)) && in(!f.To.IsZero(), !r.LastSeen.After(f.To)) &&
		in(f.HideNoise, !noisy(r))
}

// fold is a text in lower case. Greek sigma has two small letters and becomes
// one.
func fold(text string) string { return strings.ReplaceAll(strings.ToLower(text), "ς", "σ") }

// wordForm is a text in double quotes, or a text without white space.
var wordForm = regexp.MustCompile(`"([^"]*)"|[^\s\x{85}\x{a0}\x{2000}-\x{200a}\x{3000}]+`)

// searched looks for each word as a plain substring: a * is a plain character.
func searched(r errata.Record, seen Seen, text string) bool {
	place := r.File
	if r.Line > 0 {
		place = fmt.Sprintf("%s:%d", r.File, r.Line)
	}
	fields := append([]string{r.Message, r.Class, place, r.URI, oneLine(seen.Message), seen.Transaction}, seen.Causes...)
	for _, match := range wordForm.FindAllStringSubmatch(text, -1) {
		word := match[0]
		if match[1] != "" {
			word = match[1]
		}
		if word != `""` && !slices.ContainsFunc(fields, func(field string) bool { return strings.Contains(fold(field), fold(word)) }) &&
			!strings.HasPrefix(r.Signature.String(), strings.ToLower(strings.TrimSpace(word))) &&
			(seen.EventID == "" || seen.EventID != strings.ToLower(strings.ReplaceAll(word, "-", ""))) {
			return false
		}
	}
	return true
}

func oneLine(text string) string { return strings.NewReplacer("\n", " ", "\t", " ").Replace(text) }

// matchesPattern looks for the parts between the stars, one after the other.
func matchesPattern(text, pattern string) bool {
	if pattern == "" {
		return true // spares the folding of thousands of texts
	}
	text = fold(text)
	for part := range strings.SplitSeq(fold(pattern), "*") {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return true
}

// noisy says whether hide_noise hides the record.
func noisy(r errata.Record) bool {
	return r.Status == errata.StatusMuted || r.Level < errata.LevelWarning || r.Noise
}
