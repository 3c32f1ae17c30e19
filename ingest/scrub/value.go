package scrub

import (
	"slices"
	"strings"
)

// This file finds the beginning and the end of a value.

// opened is the beginning of a value.
type opened struct {
	at       int
	nextLine bool // it stands in a line below that of its key
	typed    bool // the text names its type: string(7) "x", Some("x"), b'x', a block of YAML
}

// valueStart is the beginning of the value behind an operator that ends at s[i].
func valueStart(s string, i int) (value opened) {
	k := skipBlanks(s, i)
	if k < len(s) && (s[k] == '|' || s[k] == '>') {
		if line := blockLine(s, k); line > 0 {
			return opened{line, true, true}
		}
	}
	if k < len(s) && (s[k] == '\n' || s[k] == '\r') {
		value.nextLine = true
		for lines := 0; k < len(s) && (s[k] == '\n' || s[k] == '\r' || s[k] == ' ' || s[k] == '\t'); k++ {
			if s[k] == '\n' {
				if lines++; lines > maxEmptyLines {
					return opened{at: len(s)}
				}
			}
		}
	}
	value.at = k
	if typed := typedValue(s, k); typed > k {
		value.at, value.typed = typed, true
	}
	return value
}

// maxEmptyLines is how many lines below its key a value may begin.
const maxEmptyLines = 2

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func skipBlanks(s string, i int) int {
	for i < len(s) && isBlank(s[i]) {
		i++
	}
	return i
}

// blockLine is the beginning of the text of a block of YAML whose sign (| or >-) is
// at s[i], 0 if there is none.
func blockLine(s string, i int) int {
	k := i + 1
	for k < len(s) && (isDigit(s[k]) || s[k] == '-' || s[k] == '+') {
		k++
	}
	if k = skipBlanks(s, k); k < len(s) && s[k] == '\r' {
		k++
	}
	if k == len(s) || s[k] != '\n' {
		return 0
	}
	for k < len(s) && (s[k] == '\n' || s[k] == ' ') {
		k++
	}
	return k
}

// typedValue is the beginning of a value behind the name of its type, which is at
// s[i]; i if there is no type.
func typedValue(s string, i int) int {
	if i+1 >= len(s) {
		return i
	}
	switch c := s[i]; {
	case (isAlpha(c) || c == '@') && (s[i+1] == '"' || s[i+1] == '\''):
		if strings.IndexByte("NnbBuUrReExX@", c) >= 0 {
			return i + 1
		}
	case c == '&' && isAlnum(s[i+1]): // an anchor of YAML
		if k := run(s, i+1, urlSafe); k < len(s) && s[k] == ' ' {
			return k + 1
		}
	case c == '!' && s[i+1] == '!':
		return skipBlanks(s, run(s, i+2, ""))
	case c == 's' && strings.HasPrefix(s[i:], "string("):
		if k := run(s, i+len("string("), ""); strings.HasPrefix(s[k:], ") \"") {
			return k + len(") ")
		}
	case isAlpha(c):
		k := run(s[:min(len(s), i+maxKeyword)], i, "_")
		if k < len(s) && s[k] == '(' && quoteAt(s, k+1) > 0 && isOneOf(s[i:k], "Some", "Secret", "SecretStr", "PASSWORD", "OLD_PASSWORD", "md5", "sha1", "crypt") {
			return k + 1
		}
	}
	return i
}

// valueRange is the range of the value that begins at s[i]: the content of
// quotes or brackets, else up to a delimiter. It is empty for a value that is
// filtered already or means "no value".
func valueRange(s string, i int) (start, end int) {
	if i >= len(s) {
		return i, i
	}
	start, end = i, valueEnd(s, i)
	if opener := quoteAt(s, i); opener > 0 {
		start += opener
		end = quoteEnd(s, start, s[i:start])
	}
	if isNone(s[start:end]) || isVisibility(s, start, end) {
		return i, i
	}
	return start, end
}

// isNone says whether a value is filtered already or means "no value".
func isNone(value string) bool {
	switch value {
	case "", Filtered, "null", "nil", "NULL", "None", "true", "false", "undefined", "***", "******", "********", "[FILTERED]", "[REDACTED]":
		return true
	}
	return false
}

// isVisibility says whether a value is the visibility of a property as PHP prints
// it: [key:protected], ["key":"App\User":private].
func isVisibility(s string, start, end int) bool {
	value, rest := s[start:end], s[end:]
	if strings.HasPrefix(rest, "]") {
		return value == "protected" || value == "private" || strings.HasSuffix(value, ":private")
	}
	return strings.HasPrefix(rest, "\":private]")
}

// codedQuotes are quotes as they are escaped in JSON, HTML and addresses.
var codedQuotes = []string{`\u0022`, `\u0027`, "&quot;", "&apos;", "&#34;", "&#39;", "&#039;", "%22", "%27"}

// codedQuote is the length of the escaped quote that fits, 0 if none does.
func codedQuote(fits func(string) bool) int {
	if k := slices.IndexFunc(codedQuotes, fits); k >= 0 {
		return len(codedQuotes[k])
	}
	return 0
}

// codedQuoteBefore is the length of the escaped quote that ends before s[end],
// 0 if there is none.
func codedQuoteBefore(s string, end int) int {
	if end < len("%22") || strings.IndexByte(";27", s[end-1]) < 0 {
		return 0
	}
	return codedQuote(func(quote string) bool { return strings.HasSuffix(s[:end], quote) })
}

// quoteAt is the length of the opening quote at s[i], with the backslashes before it
// in a text that was escaped; 0 if there is none.
func quoteAt(s string, i int) int {
	k := i
	for k < len(s) && s[k] == '\\' && k-i < 4 {
		k++
	}
	if k < len(s) && (s[k] == '"' || s[k] == '\'' || s[k] == '`') {
		return k + 1 - i
	}
	if i < len(s) && strings.IndexByte(`\&%`, s[i]) >= 0 {
		return codedQuote(func(quote string) bool { return strings.HasPrefix(s[i:], quote) })
	}
	return 0
}

// quoteEnd is the place of the closing quote behind s[i], the end of the text if
// there is none.
func quoteEnd(s string, i int, opener string) int {
	q := opener[len(opener)-1]
	if q != '"' && q != '\'' && q != '`' {
		if k := strings.Index(s[i:], opener); k >= 0 {
			return i + k
		}
		return valueEnd(s, i)
	}
	for k := i; k < len(s); k++ {
		if len(opener) == 1 && s[k] == '\\' && k+1 < len(s) {
			k++
			continue
		}
		if s[k] == q && strings.HasSuffix(s[i:k], opener[:len(opener)-1]) {
			return k - len(opener) + 1
		}
	}
	return len(s)
}

// valueEnd is the end of a value without quotes: the closing bracket of a list or an
// object, else the next delimiter. A rest directly behind [Filtered] belongs to it.
func valueEnd(s string, i int) int {
	if i >= len(s) {
		return len(s)
	}
	k := i
	if strings.HasPrefix(s[i:], Filtered) {
		if k += len(Filtered); k == len(s) || strings.IndexByte("/.:", s[k]) >= 0 {
			return k
		}
	} else if s[i] == '[' || s[i] == '{' {
		return bracketEnd(s, i)
	}
	for k < len(s) && s[k] > ' ' && strings.IndexByte("&,;)}]\"'`<>|", s[k]) < 0 && (s[k] != '\\' || !isCodedDelimiter(s[k:])) {
		k++
	}
	for k > i && (s[k-1] == '.' || s[k-1] == '\\' || s[k-1] == ':') {
		k--
	}
	return k
}

// isCodedDelimiter says whether a text begins with a delimiter that JSON escaped.
func isCodedDelimiter(s string) bool {
	if len(s) < len(`\u0026`) || !strings.HasPrefix(s, `\u00`) {
		return false
	}
	switch strings.ToLower(s[4:6]) {
	case "22", "26", "27", "2c", "3b", "3c", "3e", "7d", "5d":
		return true
	}
	return false
}

// bracketEnd is the end of the bracketed text at s[i], or of its line if the bracket
// is not closed.
func bracketEnd(s string, i int) int {
	depth := 0
	for k := i; k < len(s); k++ {
		switch s[k] {
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return k + 1
			}
		case '\n':
			return k
		}
	}
	return len(s)
}

// headerEnd is the end of the value of a header that has more than one word:
// Authorization with its scheme, cookies to the end of the line. It is 0 for other
// keys.
func headerEnd(s string, start int, key string) int {
	switch {
	case hasSuffixFold(key, "authorization"):
		word := run(s, start, "-")
		if word == start || word == len(s) || s[word] != ' ' {
			return 0
		}
		switch strings.ToLower(s[start:word]) {
		case "bearer", "basic", "token", "negotiate", "apikey", "sentry":
			from, end := valueRange(s, word+1)
			if end <= from {
				return 0
			}
			return end
		case "digest", "aws4-hmac-sha256", "hmac", "hawk", "oauth", "ntlm":
			return lineEnd(s, start, key)
		}
	case isOneOf(key, "cookie", "set-cookie", "http_cookie"):
		if quoteAt(s, start) > 0 || s[start] == '{' || s[start] == '[' {
			return 0
		}
		if end := lineEnd(s, start, key); !isSentenceWord(strings.TrimSpace(s[start:end])) {
			return end
		}
	}
	return 0
}

// lineEnd is the end of the line at s[i], or of the quotes around the key and the
// value ('Cookie: a=b').
func lineEnd(s string, i int, key string) int {
	stop := "\r\n"
	if k := lastBefore(s, i, key); k > 0 && strings.IndexByte("\"'`", s[k-1]) >= 0 {
		stop += s[k-1 : k]
	}
	if k := strings.IndexAny(s[i:], stop); k >= 0 {
		return i + k
	}
	return len(s)
}
