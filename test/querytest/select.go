package querytest

import (
	"cmp"
	"slices"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
)

// Select is every record that matches the filter, in order. Ties are broken by
// id, in the same direction.
func Select(records []errata.Record, f query.Filter, order query.Order, direction query.Direction) []errata.Record {
	var found []errata.Record
	for _, r := range records {
		if matches(r, f) {
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
func matches(r errata.Record, f query.Filter) bool {
	in := func(set bool, holds bool) bool { return !set || holds }
	return f.Projects.Has(r.Project) &&
		in(len(f.Books) > 0, slices.Contains(f.Books, r.Book)) &&
		in(len(f.Levels) > 0, slices.Contains(f.Levels, r.Level)) &&
		in(len(f.Statuses) > 0, slices.Contains(f.Statuses, r.Status)) &&
		in(f.Signature != nil, f.Signature != nil && *f.Signature == r.Signature) &&
		(f.Search == "" || searched(r, f.Search)) &&
		matchesPattern(r.File, f.File) && matchesPattern(r.Class, f.Class) &&
		matchesPattern(r.URI, f.URI) && matchesPattern(r.Message, f.Message) &&
		in(f.Method != "", strings.EqualFold(f.Method, r.Method)) &&
		in(f.UserID != nil, f.UserID != nil && *f.UserID == r.UserID) &&
		in(f.IP.IsValid(), f.IP.Contains(r.IP)) &&
		r.Count >= f.MinOccurrence &&
		in(!f.From.IsZero(), !r.LastSeen.Before(f.From)) && in(!f.To.IsZero(), !r.LastSeen.After(f.To)) &&
		in(f.HideNoise, !noisy(r, f.Noise))
}

// fold is a text in lower case. Greek sigma has two small letters and becomes
// one.
func fold(text string) string { return strings.ReplaceAll(strings.ToLower(text), "ς", "σ") }

// searched looks for a plain substring: a * is a plain character.
func searched(r errata.Record, text string) bool {
	for _, field := range []string{r.Message, r.Class, r.File, r.URI} {
		if strings.Contains(fold(field), fold(text)) {
			return true
		}
	}
	return strings.HasPrefix(r.Signature.String(), strings.ToLower(strings.TrimSpace(text)))
}

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
func noisy(r errata.Record, patterns []string) bool {
	if r.Status == errata.StatusMuted || r.Level < errata.LevelWarning {
		return true
	}
	for _, pattern := range patterns {
		if strings.Trim(pattern, "*") == "" {
			continue // matches everything, and so is ignored
		}
		for _, field := range []string{r.Message, r.Class, r.File, r.URI} {
			if matchesPattern(field, pattern) {
				return true
			}
		}
	}
	return false
}
