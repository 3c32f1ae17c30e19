package signature

import (
	"bytes"
	"strings"
)

// This file knows what stays although it looks like a value (statuses, drivers'
// codes, quoted URLs and methods), and writes a counted noun in one form.

// keepQuoted writes the quoted text with its quotes if it is a name, a URL or
// a status.
func (t *templater) keepQuoted(opener, content, closer string, after int) bool {
	switch {
	case isStatusLine(content):
		t.out = append(append(append(t.out, opener...), content...), closer...)
		t.wordEnd = -1
		return true
	case isURL(content):
		return t.keepURL(opener, content, closer)
	}
	if name, _, versioned := strings.Cut(content, ", Version="); versioned && t.saysBefore("assembly ") {
		content = name // the name of a .NET assembly ends in its version and key
	}
	return t.keepName(opener, content, closer, after)
}

// walkQuoted writes the opening quote and the template of the quoted text.
func (t *templater) walkQuoted(opener, content string) []byte {
	in, noClose, urlEnd, noun := t.in, t.noClose, t.urlEnd, t.noun
	t.out = append(t.out, opener...)
	mark := len(t.out)
	t.in, t.wordEnd, t.mailEnd = content, -1, 0
	for i := 0; i < len(content); {
		i = t.next(i)
	}
	t.in, t.noClose, t.url, t.urlEnd, t.noun = in, noClose, false, urlEnd, noun
	t.mailEnd, t.wordEnd = 0, -1
	return t.out[mark:]
}

// maxURL bounds a quoted URL in bytes, without its query. A longer one is a value.
const maxURL = 256

func isURL(content string) bool {
	return (strings.HasPrefix(content, "http://") || strings.HasPrefix(content, "https://")) && strings.IndexFunc(content, notURLRune) < 0
}

func notURLRune(r rune) bool { return r >= 0x80 || endsURL(byte(r)) && r != '<' && r != '>' }

// keepURL writes a quoted URL in the same form as one without quotes.
func (t *templater) keepURL(opener, content, closer string) bool {
	content, _, _ = strings.Cut(content, "?")
	if len(content) > maxURL {
		return false
	}
	mark := len(t.out)
	if url := t.walkQuoted(opener, content); len(url) > maxURL || !isURL(string(url)) {
		t.out = t.out[:mark]
		return false
	}
	t.out = append(t.out, closer...)
	t.urlEnd = len(t.out)
	return true
}

// endURL remembers the end of a URL without quotes. A colon there is not part of it.
func (t *templater) endURL() {
	t.url = false
	t.urlEnd = len(bytes.TrimRight(t.out, ":"))
}

// isURLStatus says whether the number is the status behind a URL:
// "GET https://…: 502".
func (t *templater) isURLStatus(number, rest string) bool {
	if t.urlEnd == 0 || t.urlEnd > len(t.out) || !isErrorStatus(number) || rest != "" && strings.IndexByte(" ,.;:", rest[0]) < 0 {
		return false
	}
	gap := string(tail(t.out, len(t.out)-t.urlEnd))
	return gap == ": " || gap == " " && rest == ""
}

func isErrorStatus(number string) bool {
	return len(number) == 3 && (number[0] == '4' || number[0] == '5') && isDigit(number[1]) && isDigit(number[2])
}

// maxStatusLine bounds the words of a status: 511 Network Authentication Required.
const maxStatusLine = 40

// isStatusLine says whether a text is a status with its words: 404 Not Found.
func isStatusLine(text string) bool {
	if len(text) < 6 || len(text) > maxStatusLine || !isErrorStatus(text[:3]) || text[3] != ' ' || !isUpper(text[4]) {
		return false
	}
	for i := 4; i < len(text); i++ {
		if !isLetter(text[i]) && (text[i] != ' ' || text[i-1] == ' ') {
			return false
		}
	}
	return text[len(text)-1] != ' '
}

// isDriverCode says whether the number is the code in an error of a Python
// driver: (1062, "Duplicate entry …").
func (t *templater) isDriverCode(number, rest string) bool {
	if len(number) != 4 || strings.IndexFunc(number, notDigit) >= 0 || string(t.out) != "(" && !bytes.HasSuffix(t.out, []byte(") (")) {
		return false
	}
	return strings.HasPrefix(rest, `, "`) || strings.HasPrefix(rest, ", '") || strings.HasPrefix(rest, ", <str>")
}

// isMethod says whether a quoted text is a method with its return type and the
// types of its arguments: Void Shop.Lib.Run(Int32, String).
func isMethod(text string) bool {
	open := strings.IndexByte(text, '(')
	if open < 0 || text[len(text)-1] != ')' || strings.Count(text[:open], " ") != 1 || strings.IndexByte(text[:open], '.') < 0 {
		return false
	}
	return strings.IndexFunc(text, func(r rune) bool { return r != ' ' && r != ',' && notNameRune(r) }) < 0 &&
		strings.IndexByte(text[:open], ',') < 0
}

// isTypeName knows the types that Python quotes in its messages.
func isTypeName(name string) bool {
	switch name {
	case "int", "str", "float", "bool", "bytes", "list", "dict", "tuple", "set", "frozenset", "NoneType", "function", "method", "module",
		"type", "generator", "coroutine", "complex", "range", "map", "filter", "Decimal", "datetime.datetime", "datetime.date":
		return true
	}
	return false
}

// isErrorNumber says whether the number stands behind "Error Number:", as in the
// messages of SQL Server.
func (t *templater) isErrorNumber(number string) bool {
	return len(number) <= 5 && strings.IndexFunc(number, notDigit) < 0 && (t.saysBefore("error number:") || t.saysBefore("error number: "))
}

// nameWords are the pairs of words that say that a quoted name follows.
var nameWords = [...]string{"column name ", "object name ", "object name: ", "import name ", "definition for ", "reverse for ", "exec: "}

// saysBefore says whether the output ends in the words.
func (t *templater) saysBefore(words string) bool {
	n := len(t.out) - len(words)
	return n >= 0 && strings.EqualFold(string(t.out[n:]), words) && (n == 0 || !isAlnum(t.out[n-1]))
}

// memoryMark is the end of the hex number that PHP appends to the place of an
// anonymous class, file.php:12$1a; 0 for anything else.
func (t *templater) memoryMark(i int) int {
	if !bytes.HasSuffix(t.out, []byte(":<num>$")) {
		return 0
	}
	end := i
	for end < len(t.in) && isHex(t.in[end]) {
		end++
	}
	if end == i || end-i > 8 || isWordAt(t.in, end) {
		return 0
	}
	return end
}

// spacedUnit is the length of a unit of size that stands behind a number and a
// space, with that space; 0 for none.
func spacedUnit(rest string) int {
	if len(rest) < 3 || rest[0] != ' ' {
		return 0
	}
	end := wordEnd(rest, 1)
	switch rest[1:end] {
	case "kB", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB":
		return end
	}
	return 0
}

// maxCounted bounds a counted noun in bytes. A longer word stays as it is.
const maxCounted = 15

// keepWord keeps a word of a sentence. It writes a counted noun and its verb in
// the singular: the count is a placeholder, so "3 rows were" becomes "1 row was".
func (t *templater) keepWord(word string) {
	switch {
	case t.noun > 0 && len(t.out) == t.noun+1 && t.out[t.noun] == ' ':
		t.keep(verbOfOne(word))
	case bytes.HasSuffix(t.out, []byte("<num> ")) && len(word) >= 4 && len(word) <= maxCounted && strings.IndexFunc(word, notLower) < 0:
		t.keep(nounOfOne(word))
		t.noun = len(t.out)
		return
	default:
		t.keep(word)
	}
	t.noun = 0
}

func notLower(r rune) bool { return r < 'a' || r > 'z' }

func verbOfOne(word string) string {
	switch word {
	case "were":
		return "was"
	case "are":
		return "is"
	case "have":
		return "has"
	}
	return word
}

func nounOfOne(word string) string {
	stem, many := strings.CutSuffix(word, "s")
	if !many || strings.IndexByte("sui", stem[len(stem)-1]) >= 0 {
		return word
	}
	for _, ending := range [...]struct{ many, one string }{{"ie", "y"}, {"sse", "ss"}, {"she", "sh"}, {"che", "ch"}, {"xe", "x"}} {
		if root, ok := strings.CutSuffix(stem, ending.many); ok {
			return root + ending.one
		}
	}
	return stem
}
