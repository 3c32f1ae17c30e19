package ingest

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/errata-log/errata/ingest/scrub"
)

// slack is how many bytes of a text are scrubbed beyond its limit: the scrubber does
// not find a secret that the cut left half of.
const slack = 512

// Text cleans, scrubs and cuts a text to at most limit bytes. lines keeps tabs and
// line feeds. The text is cleaned first, because an invisible character can hide a
// secret from the scrubber. It is cut roughly before the scrubber reads it, to bound
// the work, and exactly afterwards.
func (r *Rules) Text(s string, limit int, lines bool) string {
	return r.cutText(s, limit, lines).text
}

// cutText is a text and whether its end was cut off.
type cutText struct {
	text string
	cut  bool
}

// cutText is Text, and says whether it has cut the text.
func (r *Rules) cutText(s string, limit int, lines bool) cutText {
	if s == "" {
		return cutText{}
	}
	known := r.memory().line
	if lines {
		known = r.memory().lines
	}
	_, at, found := known.Find(s)
	if found && len(s) <= limit {
		return cutText{s, false}
	}
	kept := r.cutCleaned(s, limit, func(s string) string { return clean(s, lines) })
	if kept.text == s {
		known.Keep(at, s, nothing)
	}
	return kept
}

// signedText is Text for what is signed: recipe v1 knows no joiners.
func (r *Rules) signedText(s string) string {
	return r.cutCleaned(s, MaxSigned, func(s string) string { return withoutJoiners(clean(s, true)) }).text
}

func (r *Rules) cutCleaned(s string, limit int, clean func(string) string) cutText {
	rough := len(s) > limit+slack
	if rough {
		s = roughly(s, limit+slack)
	}
	s = r.Scrubber.Text(clean(s))
	if rough {
		return cutText{scrub.Marked(s, limit), true}
	}
	return cutText{scrub.Cut(s, limit), len(s) > limit}
}

// roughly cuts s to limit bytes, and cuts off the last word, which may be half a
// secret.
func roughly(s string, limit int) string {
	s = s[:limit]
	if blank := strings.LastIndexAny(s[limit-slack/2:], " \t\n\r"); blank >= 0 {
		return s[:limit-slack/2+blank]
	}
	return s
}

// oneLine cleans a name that must be one line.
func oneLine(s string) string { return withoutJoiners(clean(s, false)) }

// clean repairs invalid UTF-8. It removes control characters, and the bidirectional
// and invisible characters that make a text look like another one. Joiners stay where a
// script or an emoji needs them. Tabs and line feeds stay if lines is true, else they
// become blanks.
func clean(s string, lines bool) string {
	if isPlain(s, lines) {
		return s
	}
	s = strings.ToValidUTF8(s, "�")
	at, previous := 0, rune(0)
	return strings.Map(func(r rune) rune {
		at += utf8.RuneLen(r)
		before := previous
		previous = r
		switch {
		case r == joiner || r == nonJoiner:
			if next, _ := utf8.DecodeRuneInString(s[at:]); joins(before, r, next) {
				return r
			}
			return -1
		case r == '\n' && lines, r == '\t' && lines:
			return r
		case r == '\n', r == '\t', r == '\r' && !lines:
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\ufeff', r == '\u200b', r == '\u2060':
			return -1
		case r == '\u2028' || r == '\u2029':
			return ' '
		}
		return r
	}, s)
}

// isPlain says whether s is printable ASCII, which needs no cleaning. It looks at
// eight bytes at a time, because every byte of an event passes here.
func isPlain(s string, lines bool) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		b := s[i : i+8]
		v := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		// The high bit of a byte is set in the first term for bytes from 0x80,
		// in the second for those below a blank, in the third for 0x7f.
		if (v|(v-ones*' ')|(v+ones))&highs != 0 && !arePlain(b, lines) {
			return false
		}
	}
	return arePlain(s[i:], lines)
}

func arePlain(s string, lines bool) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' && !(lines && (c == '\n' || c == '\t'))) || c > '~' {
			return false
		}
	}
	return true
}

// preview is the first line of a message, at most PreviewRunes long.
func preview(message string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(message, "\n\t "), "\n")
	line = strings.TrimRight(strings.ReplaceAll(line, "\t", " "), " ")
	if len(line) <= PreviewRunes || utf8.RuneCountInString(line) <= PreviewRunes {
		return line
	}
	runes := 0
	for i := range line {
		if runes++; runes == PreviewRunes {
			return line[:i] + "…"
		}
	}
	return line
}

// URI gives a request's address without its secrets, see [scrub.Scrubber.URI].
func (r *Rules) URI(uri string) string {
	if len(uri) > maxRawURI {
		uri = uri[:maxRawURI]
	}
	if uri == "" {
		return ""
	}
	known := r.memory().uris
	_, at, found := known.Find(uri)
	if found {
		return uri
	}
	kept := scrub.Cut(r.Scrubber.URI(oneLine(uri)), MaxURI)
	if kept == uri {
		known.Keep(at, uri, nothing)
	}
	return kept
}

// maxRawURI is how many bytes of an address are scrubbed. The result is shorter: the
// values of a query are removed.
const maxRawURI = 4 * MaxURI

// methodOf is a request method in upper case, "" if the text is none.
func methodOf(method string) string {
	if len(method) > MaxMethod || strings.IndexFunc(method, notLetter) >= 0 {
		return ""
	}
	return strings.ToUpper(method)
}

func notLetter(r rune) bool { return r|0x20 < 'a' || r|0x20 > 'z' }

// File gives a source file relative to the install root, scrubbed and cut.
func (r *Rules) File(file string) string {
	if file == "" {
		return ""
	}
	known := r.memory().files
	kept, at, found := known.Find(file)
	if found {
		return kept
	}
	relative := r.relativeFile(file)
	if kept = r.Text(relative, MaxFile, false); kept == relative {
		known.Keep(at, file, func(own string) string { return like(own, kept) })
	}
	return kept
}

// header is the canonical name and the value of a request header that is kept.
func (r *Rules) header(h Pair) (name, value string, ok bool) {
	if name = scrub.HeaderName(h.Key); name == "" {
		return "", "", false
	}
	if _, _, clean := r.memory().line.Find(h.Value); clean && name != "Referer" {
		return name, h.Value, true
	}
	return r.Scrubber.Header(h.Key, h.Value)
}

// relativeFile is a source file relative to the install root: without scheme,
// host and configured roots, with forward slashes.
func (r *Rules) relativeFile(file string) string {
	if len(file) > MaxFile+slack {
		file = file[:MaxFile+slack]
	}
	file = strings.ReplaceAll(oneLine(file), `\`, "/")
	file = withoutScheme(file)
	root := 0
	for _, r := range r.InstallRoots {
		root = max(root, rootLen(file, r))
	}
	file = file[root:]
	for strings.HasPrefix(file, "./") {
		file = file[2:]
	}
	if root > 0 || strings.HasPrefix(file, "//") {
		file = strings.TrimLeft(file, "/")
	}
	return file
}

// withoutScheme cuts the scheme, the host and the query of a file that is
// given as a URL.
func withoutScheme(file string) string {
	colon := strings.IndexByte(file, ':')
	if colon < 0 || !strings.HasPrefix(file[colon:], "://") || !isScheme(file[:colon]) {
		return file
	}
	scheme, rest := file[:colon], file[colon+len("://"):]
	if scheme != "file" && scheme != "app" {
		_, rest, _ = strings.Cut(rest, "/")
	}
	rest, _, _ = strings.Cut(rest, "?")
	return rest
}

// rootLen is the length of the given root, with its slash, at the front of a file;
// 0 if the file is elsewhere. A root may have backslashes and end in a slash.
func rootLen(file, given string) int {
	root := strings.TrimRight(given, `/\`)
	if len(file) <= len(root) || file[len(root)] != '/' || given == "" {
		return 0
	}
	for i := range len(root) {
		if c := root[i]; c != file[i] && (c != '\\' || file[i] != '/') {
			return 0
		}
	}
	return len(root) + 1
}

func isScheme(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return notLetter(r) && !strings.ContainsRune("+-.", r) }) < 0
}
