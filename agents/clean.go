package agents

import (
	"strings"
	"unicode"
)

// clean removes from a text what a person who looks at it would not see, or what moves a
// cursor: control characters except line feeds and tabs, format characters such as
// bidirectional ones and tags (Unicode's hidden copy of ASCII), variation selectors,
// private and unpaired code points. A carriage return becomes a line feed.
func clean(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r' || r == '\u2028' || r == '\u2029':
			return '\n'
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Variation_Selector) || isFiller(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// isFiller says whether a letter or mark shows nothing: Hangul fillers, the blank of
// Braille and the combining grapheme joiner.
func isFiller(r rune) bool {
	switch r {
	case '\u034F', '\u115F', '\u1160', '\u17B4', '\u17B5', '\u2800', '\u3164', '\uFFA0':
		return true
	}
	return false
}

// cleaned is a decoded JSON value with all its texts cleaned, names of members too.
func cleaned(value any) any {
	switch value := value.(type) {
	case string:
		return clean(value)
	case []any:
		for i := range value {
			value[i] = cleaned(value[i])
		}
		return value
	case map[string]any:
		all := make(map[string]any, len(value))
		for name, member := range value {
			all[clean(name)] = cleaned(member)
		}
		return all
	}
	return value
}
