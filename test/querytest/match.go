package querytest

import (
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
	// Events are the ids of its occurrences that are kept: 32 hex digits, or any other
	// text.
	Events []string
}

// Ready is records with their texts made ready once for many filters. Many
// goroutines may ask it.
type Ready []ready

// ready is a record and its folded texts.
type ready struct {
	errata.Record
	message, whole, file, class, uri string
	// searched are the texts that a word of a search may be in.
	searched []string
	// signature is in hex digits, as eventID is.
	signature, eventID string
	events             []string
}

// Prepare folds the texts of the records. seen has the context of a record.
func Prepare(records []errata.Record, seen func(errata.Record) Seen) Ready {
	all := make(Ready, len(records))
	for i, r := range records {
		of, place := seen(r), r.File
		if r.Line > 0 {
			place = fmt.Sprintf("%s:%d", r.File, r.Line)
		}
		p := ready{
			Record: r, message: fold(r.Message), whole: fold(oneLine(of.Message)), file: fold(r.File), class: fold(r.Class), uri: fold(r.URI),
			signature: r.Signature.String(), eventID: of.EventID, events: of.Events,
		}
		p.searched = []string{p.message, p.class, fold(place), p.uri, p.whole, fold(of.Transaction)}
		for _, cause := range of.Causes {
			p.searched = append(p.searched, fold(cause))
		}
		all[i] = p
	}
	return all
}

// Matching are the records that match the filter, in no order.
func (all Ready) Matching(f query.Filter) []*errata.Record {
	searched := words(f.Search)
	f.File, f.Class, f.URI, f.Message = fold(f.File), fold(f.Class), fold(f.URI), fold(f.Message)
	var found []*errata.Record
	for i := range all {
		if matches(&all[i], &f, searched) {
			found = append(found, &all[i].Record)
		}
	}
	return found
}

// matches says whether a record passes all filters that are set. The patterns and the
// words of the search are folded.
func matches(r *ready, f *query.Filter, searched []string) bool {
	in := func(set bool, holds bool) bool { return !set || holds }
	return f.Projects.Has(r.Project) &&
		in(len(f.Books) > 0, slices.Contains(f.Books, r.Book)) &&
		in(len(f.Levels) > 0, slices.Contains(f.Levels, r.Level)) &&
		in(len(f.Statuses) > 0, slices.Contains(f.Statuses, r.Status)) &&
		in(f.Signature != nil, f.Signature != nil && *f.Signature == r.Signature) &&
		r.has(searched) && in(f.EventID != "", slices.Contains(r.events, plainID(f.EventID))) &&
		matchesPattern(r.file, f.File) && matchesPattern(r.class, f.Class) &&
		matchesPattern(r.uri, f.URI) && (matchesPattern(r.message, f.Message) || matchesPattern(r.whole, f.Message)) &&
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

func oneLine(text string) string { return strings.NewReplacer("\n", " ", "\t", " ").Replace(text) }

// wordForm is a text in double quotes, or a text without white space.
var wordForm = regexp.MustCompile(`"([^"]*)"|[^\s\x{85}\x{a0}\x{2000}-\x{200a}\x{3000}]+`)

// words are the folded words of a search. A pair of quotes with nothing between says
// nothing.
func words(search string) (all []string) {
	for _, match := range wordForm.FindAllStringSubmatch(search, -1) {
		word := match[0]
		if match[1] != "" {
			word = match[1]
		}
		if word != `""` {
			all = append(all, fold(word))
		}
	}
	return all
}

// has looks for each word as a plain substring: a * is a plain character.
func (r *ready) has(words []string) bool {
	for _, word := range words {
		if !slices.ContainsFunc(r.searched, func(text string) bool { return strings.Contains(text, word) }) &&
			!strings.HasPrefix(r.signature, strings.TrimSpace(word)) &&
			(r.eventID == "" || r.eventID != strings.ReplaceAll(word, "-", "")) &&
			(!uuid.MatchString(word) || !slices.Contains(r.events, plainID(word))) {
			return false
		}
	}
	return true
}

var uuid = regexp.MustCompile(`^(?i)([0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)

// plainID is the id of an event as it is kept.
func plainID(id string) string {
	if uuid.MatchString(id) {
		return strings.ReplaceAll(strings.ToLower(id), "-", "")
	}
	return id
}

// matchesPattern looks for the parts between the stars, one after the other.
func matchesPattern(text, pattern string) bool {
	if pattern == "" {
		return true
	}
	for part := range strings.SplitSeq(pattern, "*") {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return true
}

// noisy says whether hide_noise hides the record.
func noisy(r *ready) bool {
	return r.Status == errata.StatusMuted || r.Level < errata.LevelWarning || r.Noise
}
