package projects

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	errata "github.com/errata-log/errata"
)

// maxSlug is the longest slug in bytes: it stands in addresses that people read.
const maxSlug = 50

// numberedPrefix begins the slugs that belong to numbers: project-7 is that of 7 alone.
const numberedPrefix = "project-"

func numberedSlug(number uint64) string { return numberedPrefix + strconv.FormatUint(number, 10) }

func isSlugRune(r rune) bool { return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' }

// slugOf makes a slug of a name: its Latin letters without accents, and its digits.
// It is "" when nothing of the name is left, or only digits, which would look like the
// number of a project.
func slugOf(name string) string {
	var slug strings.Builder
	gap := false
	for _, r := range norm.NFKD.String(strings.ToLower(name)) {
		switch {
		case isSlugRune(r):
			if gap && slug.Len() > 0 {
				slug.WriteByte('-')
			}
			slug.WriteRune(r)
			gap = false
		case !unicode.Is(unicode.Mn, r): // an accent is left out, anything else divides
			gap = true
		}
	}
	text := cutSlug(slug.String(), maxSlug)
	if isNumber(text) {
		return ""
	}
	return text
}

func cutSlug(text string, most int) string {
	return strings.TrimRight(text[:min(len(text), most)], "-")
}

func isNumber(text string) bool { return strings.Trim(text, "0123456789") == "" }

// belongsToOther says whether the slug is that of another number.
func belongsToOther(slug string, number uint64) bool {
	digits, numbered := strings.CutPrefix(slug, numberedPrefix)
	return numbered && isNumber(digits) && slug != numberedSlug(number)
}

// freeSlug is the slug of a new project with the name: the name's own, or with the first
// number behind it that makes it unique.
func (s Set) freeSlug(name string, number uint64) string {
	base := slugOf(name)
	if base == "" {
		base = numberedSlug(number)
	}
	for slug, n := base, 2; ; n++ {
		if !s.hasSlug(slug, number) && !belongsToOther(slug, number) {
			return slug
		}
		more := "-" + strconv.Itoa(n)
		slug = cutSlug(base, maxSlug-len(more)) + more
	}
}

// checkSlug says what is wrong with a slug that somebody chose for the project.
func (s Set) checkSlug(slug string, number uint64) error {
	wrong := func(format string, args ...any) error {
		return invalid(errata.KindInvalidSlug, "slug", format, args...)
	}
	for part := range strings.SplitSeq(slug, "-") {
		if part == "" || strings.ContainsFunc(part, func(r rune) bool { return !isSlugRune(r) }) {
			return wrong("A slug consists of small letters and digits, with single hyphens between them, as in web-shop.")
		}
	}
	switch {
	case len(slug) > maxSlug:
		return wrong("A slug has at most %d characters, this one has %d.", maxSlug, len(slug))
	case isNumber(slug):
		return wrong("A slug needs a letter: digits alone are the number of a project.")
	case belongsToOther(slug, number):
		return wrong("A slug such as %s belongs to the project with that number; this one is %d.", slug, number)
	case s.hasSlug(slug, number):
		return wrong("Another project has the slug %s; choose another one.", slug)
	}
	return nil
}
