package render

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// maxMarks is how many combining marks may follow each other: more of them paint
	// over the lines above and below. No script needs more.
	maxMarks = 4
	// maxLink bounds our own links, of which a message has up to a dozen.
	maxLink = 800
	// breaker is the zero width non-joiner. It is put into what a program could take for
	// an address, because it shows nothing in every font.
	breaker = '\u200C'
	// ellipsis ends a text that was cut.
	ellipsis = "…"
)

// lines is a text without what a reader would not see or what changes how the rest is
// shown: control characters except line feeds and tabs, format characters such as
// bidirectional overrides and zero-width ones, tags, variation selectors, fillers, private
// and unassigned code points, towers of combining marks. most is how many runes it has at most.
func lines(text string, most int) string {
	// What is far behind the cut is not looked at: a message may be large.
	if limit := utf8.UTFMax * most; len(text) > limit {
		text = text[:limit]
	}
	marks := 0
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || ' ' <= r && r <= '~':
			marks = 0
			return r
		case r == '\r' || r == '\u2028' || r == '\u2029' || r == '\u0085':
			r = '\n'
		case unicode.IsSpace(r):
			r = ' '
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Variation_Selector) || isFiller(r):
			return -1
		case !unicode.IsPrint(r):
			r = utf8.RuneError
		}
		if !unicode.In(r, unicode.Mn, unicode.Me) {
			marks = 0
		} else if marks++; marks > maxMarks {
			return -1
		}
		return r
	}, strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD"))
	return cut(text, most)
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

// line is a text as [lines] leaves it, on one line and without space around it.
func line(text string, most int) string {
	return cut(strings.Join(strings.Fields(lines(text, 2*most)), " "), most)
}

// cut is the first runes of a text, most in all with the ellipsis.
func cut(text string, most int) string {
	at, n := 0, 0
	for i := range text {
		if n++; n == most {
			at = i
		}
		if n > most {
			return strings.TrimRight(text[:at], " \n\t") + ellipsis
		}
	}
	return text
}

// ending is the last runes of a line: what tells one file from another stands at the end.
func ending(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return ellipsis + string(runes[len(runes)-most+1:])
}

// plain is a cleaned line for a place that has no markup, but in which a program may look
// for addresses, mentions and domains by itself. None are left to find.
func plain(text string) string {
	var b strings.Builder
	previous := ' '
	for i, r := range text {
		next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		b.WriteRune(r)
		switch {
		case r == '@' || r == '#',
			r == ':' && next == '/', r == '\\' && next == '\\', // an address, a share of Windows
			r == '.' && isWord(previous) && isWord(next):
			b.WriteRune(breaker)
		}
		previous = r
	}
	return b.String()
}

// isWord says whether a rune may be part of a name: letters, their marks, and all numbers,
// because some programs take a Roman numeral for the letter that it looks like.
func isWord(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N) }

// bare is only the words of a text: letters, marks and numbers with single spaces between
// them. It is for the places whose markup is not documented: titles and summaries.
func bare(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return !isWord(r) })
	return strings.Join(words, " ")
}

// slug is the slug of a project, which has letters, digits and single hyphens between
// them; anything else becomes a hyphen.
func slug(text string) string {
	words := strings.FieldsFunc(line(text, 64), func(r rune) bool { return r >= utf8.RuneSelf || !isWord(r) })
	return strings.Join(words, "-")
}

// code is a cleaned line as inline code of Markdown. A grave accent would end it, so the
// letter that looks like one stands for it.
func code(text string) string { return "`" + accents.Replace(text) + "`" }

// block is a cleaned line as a block of code of Markdown.
func block(text string) string { return "```\n" + accents.Replace(text) + "\n```" }

var accents = strings.NewReplacer("`", "ˋ")

// link is one of our own links with every character escaped that means something in any
// markup, "" where it is none that leads to a page.
func link(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil {
		return ""
	}
	var b strings.Builder
	for _, c := range []byte(u.String()) {
		if c < utf8.RuneSelf && (isWord(rune(c)) || strings.IndexByte("-._~/:?#&=%+,;@!$", c) >= 0) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if b.Len() > maxLink {
		return ""
	}
	return b.String()
}

// units is the length of a text in UTF-16 code units, in which Telegram and JavaScript
// count. It is never less than the number of runes.
func units(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}
