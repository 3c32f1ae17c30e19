package query

import (
	"cmp"
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	errata "github.com/errata-log/errata"
)

const (
	// maxPattern is the longest text to search for, in bytes. Fields may be
	// longer, but nobody types more, and each * adds a state to the matcher.
	maxPattern = 1024
	// maxShown is how much of a refused value the error repeats, in bytes.
	maxShown = 64
)

// Parse reads the query parameters of the list endpoint. A parameter that is
// absent or blank does not filter; page and limit are moved into their bounds.
// Relative dates count from now. Errors: kind invalid_… or signature_required;
// the message names the value and what is allowed.
func Parse(values url.Values, now time.Time) (Filter, Page, error) {
	var (
		p = parser{values: values}
		f Filter
	)
	f.Search = p.search()
	f.Books = list(&p, "types", errata.KindInvalidType, errata.ParseBook, names(errata.Books))
	f.Levels = list(&p, "levels", errata.KindInvalidLevel, errata.ParseLevel, errata.Levels)
	f.Statuses = list(&p, "status", errata.KindInvalidStatus, errata.ParseStatus, texts(errata.Statuses))
	f.Signature = p.signature()
	f.Environments = p.names("environment")
	f.Releases = p.names("release")
	f.Tags = p.tags("tag")
	f.EventID = strings.TrimSpace(p.text("event_id"))
	f.File = p.text("file")
	f.Class = p.text("exception_class")
	f.URI = p.text("request_uri")
	f.Message = p.text("message")
	f.Method = strings.TrimSpace(p.text("http_method"))
	f.UserID = p.userID()
	f.IP = p.ip()
	f.MinOccurrence = p.minOccurrence()
	f.From, f.To = p.dateRange(now)
	f.HideNoise = p.boolean("hide_noise")

	page := Page{
		Order:     oneOf(&p, "order", errata.KindInvalidOrder, Orders),
		Direction: oneOf(&p, "direction", errata.KindInvalidDirection, []Direction{Descending, Ascending}),
		Number:    p.number("page", errata.KindInvalidPage),
		Limit:     p.number("limit", errata.KindInvalidLimit),
	}
	if p.err != nil {
		return Filter{}, Page{}, p.err
	}
	return f, page.normal(), nil
}

// parser reads parameters and keeps the first error.
type parser struct {
	values url.Values
	err    error
}

func (p *parser) fail(err *errata.Error) {
	if p.err == nil {
		p.err = err
	}
}

// value is the first value of the parameter without the blanks around it.
func (p *parser) value(name string) string { return strings.TrimSpace(p.values.Get(name)) }

// text is a text to search for, without the blanks around it. ClickHouse's matcher
// takes only valid UTF-8.
func (p *parser) text(name string) string {
	text := p.value(name)
	if len(text) > maxPattern {
		p.fail(errata.Errorf(errata.KindInvalidPattern, "%s is %d bytes long, more than %d: shorten it.", name, len(text), maxPattern))
		return ""
	}
	return blanks.Replace(strings.ToValidUTF8(text, "\uFFFD"))
}

// search is the text of a search, "" if it has no word.
func (p *parser) search() string {
	text := p.text("search")
	switch n := len(words(text)); {
	case n == 0:
		return ""
	case n > maxWords:
		p.fail(errata.Errorf(errata.KindInvalidPattern,
			"search has %d words, more than %d: leave some out, or put a text that stands together into double quotes.", n, maxWords))
	}
	return text
}

func (p *parser) signature() *errata.Signature {
	text := p.value("signature")
	if text == "" {
		return nil
	}
	signature, err := errata.ParseSignature(text)
	if err != nil {
		p.fail(errata.Errorf(errata.KindSignatureRequired, "signature %s is not a signature: it has 32 hex digits, as the list shows it.", shown(text)))
		return nil
	}
	return &signature
}

func (p *parser) userID() *int64 {
	text := p.value("user_id")
	if text == "" {
		return nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		p.fail(errata.Errorf(errata.KindInvalidNumber, "user_id %s is not a whole number of at most 64 bits.", shown(text)))
		return nil
	}
	return &id
}

func (p *parser) minOccurrence() uint64 {
	text := p.value("min_occurrence")
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		p.fail(errata.Errorf(errata.KindInvalidNumber, "min_occurrence %s is not a whole number of at most 64 bits.", shown(text)))
	}
	return uint64(max(n, 0))
}

func (p *parser) ip() netip.Prefix {
	text := p.value("ip")
	if text == "" {
		return netip.Prefix{}
	}
	prefix, ok := errata.ParsePrefix(text)
	if !ok {
		p.fail(errata.Errorf(errata.KindInvalidIP, "ip %s is neither an address, such as 203.0.113.9 or 2001:db8::1, nor a prefix, such as 10.0.0.0/8.", shown(text)))
	}
	return prefix
}

func (p *parser) dateRange(now time.Time) (from, to time.Time) {
	text := p.value("date_range")
	if text == "" {
		return from, to
	}
	from, to, reason := parseDateRange(text, now)
	if reason != "" {
		p.fail(errata.Errorf(errata.KindInvalidDateRange,
			"date_range %s %s; it is like 2026-11-01..2026-11-21, 2026-11-01.., 2026-11-21, 24h, 7d, today or yesterday, and its ends may be RFC 3339 times.", shown(text), reason))
	}
	return from, to
}

func (p *parser) boolean(name string) bool {
	switch text := strings.ToLower(p.value(name)); text {
	case "1", "true", "on", "yes":
		return true
	case "", "0", "false", "off", "no":
		return false
	default:
		p.fail(errata.Errorf(errata.KindInvalidBoolean, "%s %s is neither yes (1, true, on, yes) nor no (0, false, off, no).", name, shown(text)))
		return false
	}
}

// number is a page or limit: any whole number, however large.
func (p *parser) number(name string, kind errata.Kind) int {
	text := p.value(name)
	if text == "" {
		return 0
	}
	// For a number out of range, ParseInt returns the nearest one in range.
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		p.fail(errata.Errorf(kind, "%s %s is not a whole number.", name, shown(text)))
	}
	return int(n)
}

// list reads a comma list. The parameter may be given more than once.
func list[T cmp.Ordered](p *parser, name string, kind errata.Kind, parse func(string) (T, bool), allowed []string) []T {
	var found []T
	for text := range strings.SplitSeq(strings.Join(p.values[name], ","), ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		value, ok := parse(text)
		if !ok {
			p.fail(errata.Errorf(kind, "%s: %s is none of %s.", name, shown(text), strings.Join(allowed, ", ")))
			return nil
		}
		found = append(found, value)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// names reads a comma list of environments or releases, which are compared as they
// are written.
func (p *parser) names(name string) (all Names) {
	text := strings.Join(p.values[name], ",")
	if len(text) > maxPattern {
		p.fail(errata.Errorf(errata.KindInvalidPattern, "%s is %d bytes long, more than %d: shorten it, also by a * for any text.", name, len(text), maxPattern))
		return nil
	}
	for one := range strings.SplitSeq(strings.ToValidUTF8(text, "\uFFFD"), ",") {
		switch one = strings.TrimSpace(one); one {
		case "":
		case Unknown:
			all = append(all, "")
		default:
			all = append(all, one)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// oneOf reads one of the allowed words in any case, the first by default.
func oneOf[T ~string](p *parser, name string, kind errata.Kind, allowed []T) T {
	text := strings.ToLower(p.value(name))
	if text == "" {
		return allowed[0]
	}
	if !slices.Contains(allowed, T(text)) {
		p.fail(errata.Errorf(kind, "%s %s is none of %s.", name, shown(p.value(name)), strings.Join(texts(allowed), ", ")))
	}
	return T(text)
}

// shown is the refused value as the error repeats it.
func shown(text string) string {
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return strconv.Quote(text)
}

func names[T interface{ String() string }](values []T) []string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		out = append(out, v.String())
	}
	return out
}

func texts[T ~string](values []T) []string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}
