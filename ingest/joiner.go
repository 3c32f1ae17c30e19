package ingest

import (
	"strings"
	"unicode"
)

// The joiners are invisible, and say whether the letters beside them are connected. Persian
// has a nonJoiner within words, Indic scripts have both, and a joiner makes one emoji of two.
const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'

	joinerBegin = 0xe2 // the first byte of both
)

// joining are the scripts whose letters change their form with their neighbours.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mandaic, unicode.Nko, unicode.Mongolian, unicode.Adlam, unicode.Hanifi_Rohingya,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
	unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Balinese, unicode.Javanese,
}

// joins says whether the joiner j is a part of the text between the runes before and next:
// between letters of a script that needs it, or between two emoji. Anywhere else, as within
// a Latin word, it only makes a text look like another one.
func joins(before, j, next rune) bool {
	if unicode.In(before, joining...) && unicode.In(next, joining...) {
		return true
	}
	return j == joiner && endsEmoji(before) && next != unicode.ReplacementChar && unicode.Is(unicode.So, next)
}

// endsEmoji says whether an emoji may end with r: a symbol, the colour of a skin, or the
// selector of its coloured form.
func endsEmoji(r rune) bool {
	return unicode.Is(unicode.So, r) || r >= 0x1f3fb && r <= 0x1f3ff || r == 0xfe0f
}

// withoutJoiners is a clean text without joiners.
func withoutJoiners(s string) string {
	if !hasJoiner(s) {
		return s
	}
	return strings.NewReplacer(string(nonJoiner), "", string(joiner), "").Replace(s)
}

func hasJoiner(s string) bool {
	if strings.IndexByte(s, joinerBegin) < 0 {
		return false
	}
	return strings.Contains(s, string(nonJoiner)) || strings.Contains(s, string(joiner))
}
