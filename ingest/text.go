package ingest

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cutText cuts s to at most limit bytes at a rune and marks the cut.
func cutText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return marked(s, limit)
}

// marked is the beginning of s with the mark of a cut, at most limit bytes.
func marked(s string, limit int) string {
	const mark = "…"
	end := min(len(s), limit-len(mark))
	for end > 0 && end < len(s) && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}

// slack is what is read of a text beyond its limit before it is scrubbed, so
// that the cut does not go through a secret and leave half of it unknown.
const slack = 512

// Text is a text cleaned, scrubbed and cut, in this order: cleaned first,
// because an invisible character can hide a secret from the scrubber and would
// be gone afterwards; cut last, and roughly before, so that what is scrubbed is
// bounded, too.
func (r *Rules) Text(s string, limit int, lines bool) string {
	rough := len(s) > limit+slack
	if rough {
		s = roughly(s, limit+slack)
	}
	s = r.Scrubber.Text(clean(s, lines))
	if rough {
		return marked(s, limit)
	}
	return cutText(s, limit)
}

// roughly cuts s to limit bytes and takes the last word, which may be half a
// secret, along.
func roughly(s string, limit int) string {
	s = s[:limit]
	if blank := strings.LastIndexAny(s[limit-slack/2:], " \t\n\r"); blank >= 0 {
		return s[:limit-slack/2+blank]
	}
	return s
}

// oneLine is clean for fields that are one line.
func oneLine(s string) string { return clean(s, false) }

// clean repairs invalid UTF-8 and takes out what could act rather than be
// read: control characters but, with lines, tab and line feed, and the
// bidirectional and invisible formatting characters that make a text look
// like another.
func clean(s string, lines bool) string {
	if isPlain(s, lines) {
		return s
	}
	s = strings.ToValidUTF8(s, "�")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' && lines, r == '\t' && lines:
			return r
		case r == '\n', r == '\t', r == '\r' && !lines:
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\ufeff', r >= '\u200b' && r <= '\u200d', r == '\u2060':
			return -1
		case r == '\u2028' || r == '\u2029':
			return ' '
		}
		return r
	}, s)
}

// isPlain says that s is printable ASCII: nearly every field is, and needs no
// work. It looks at eight bytes at a time, because every byte of an event
// passes here.
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
	if len(line) <= PreviewRunes {
		return line
	}
	n := 0
	for i := range line {
		if n == PreviewRunes-1 {
			if utf8.RuneCountInString(line[i:]) > 1 {
				return line[:i] + "…"
			}
			return line
		}
		n++
	}
	return line
}

// URI is a request's address as it may be kept, see [scrub.URI].
func (r *Rules) URI(uri string) string {
	if len(uri) > maxRawURI {
		uri = uri[:maxRawURI]
	}
	return cutText(r.Scrubber.URI(oneLine(uri)), MaxURI)
}

// maxRawURI is what is read of an address. Filtering shortens it: the values of
// a query go.
const maxRawURI = 4 * MaxURI

// methodOf is a request method in upper case, "" for what is none.
func methodOf(method string) string {
	if method == "" || len(method) > MaxMethod {
		return ""
	}
	for i := range len(method) {
		if c := method[i] | 0x20; c < 'a' || c > 'z' {
			return ""
		}
	}
	return strings.ToUpper(method)
}

// File is a source file relative to the install root, scrubbed and cut.
func (r *Rules) File(file string) string { return r.Text(r.relativeFile(file), MaxFile, false) }

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

// rootLen is the length of the root that a file lies under, with its slash; 0
// when it lies elsewhere. A root may be written with backslashes and end in a slash.
func rootLen(file, given string) int {
	root := given
	for root != "" && (root[len(root)-1] == '/' || root[len(root)-1] == '\\') {
		root = root[:len(root)-1]
	}
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
	for i := range len(s) {
		if c := s[i]; !(c|0x20 >= 'a' && c|0x20 <= 'z') && c != '+' && c != '-' && c != '.' {
			return false
		}
	}
	return s != ""
}
