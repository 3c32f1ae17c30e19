package ingest

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cutText cuts s to at most limit bytes at a rune and marks the cut.
func cutText(s string, limit int) string {
	const mark = "…"
	if len(s) <= limit {
		return s
	}
	end := limit - len(mark)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}

// cleanText repairs invalid UTF-8 and takes out what could act rather than be
// read: control characters but tab and line feed, and the bidirectional and
// invisible formatting characters that make a text look like another.
func cleanText(s string) string { return clean(s, true) }

// oneLine is cleanText for fields that are one line.
func oneLine(s string) string { return clean(s, false) }

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

// isPlain says that s is printable ASCII: nearly every field is, and needs no work.
func isPlain(s string, lines bool) bool {
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

// relativeFile is a source file relative to the install root: without scheme,
// host and configured roots, with forward slashes.
func (r *Rules) relativeFile(file string) string {
	file = strings.ReplaceAll(file, `\`, "/")
	if scheme, rest, ok := strings.Cut(file, "://"); ok && isScheme(scheme) {
		switch scheme {
		case "file", "app":
			file = rest
		default:
			_, path, _ := strings.Cut(rest, "/")
			file = path
		}
		file, _, _ = strings.Cut(file, "?")
	}
	cut := 0
	for _, root := range r.InstallRoots {
		cut = max(cut, rootLength(file, root))
	}
	file = file[cut:]
	for strings.HasPrefix(file, "./") {
		file = file[2:]
	}
	if cut > 0 || strings.HasPrefix(file, "//") {
		file = strings.TrimLeft(file, "/")
	}
	return file
}

// rootLength is how much of the file's front is the root, 0 when it lies elsewhere.
func rootLength(file, root string) int {
	root = strings.TrimRight(root, `/\`)
	if len(file) <= len(root) || file[len(root)] != '/' {
		return 0
	}
	for i := range len(root) {
		if c := root[i]; c != file[i] && !(c == '\\' && file[i] == '/') {
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
