package scrub

import "strings"

// This file finds the values behind secret keys in free text.

// maxKey bounds how far back a key is looked for.
const maxKey = 64

// assignment is the range of the secret value behind the "=" or ":" at s[i].
func (x *Scrubber) assignment(s string, i int) (start, end int) {
	if s[i] == ':' && strings.HasPrefix(s[i:], "://") {
		return urlPassword(s, i)
	}
	from, ok := operatorEnd(s, i)
	if !ok {
		return -1, -1
	}
	key, quoted := keyBefore(s, i)
	if key != "" && !x.isSecretInText(s, i, key) {
		key = unescaped(s, i, key)
	}
	if key == "" || !x.isSecretInText(s, i, key) || s[i] == ':' && !quoted && x.isOrdinaryLabel(s, i, key) {
		return -1, -1
	}
	start = from
	for start < len(s) && (s[start] == ' ' || s[start] == '\t') {
		start++
	}
	if start == len(s) || s[start] == '\n' || s[start] == '\r' {
		return -1, -1
	}
	if header := headerRange(s, start, key); header > start {
		return start, header
	}
	prose := s[i] == ':' && !quoted || start > from && !quoted
	start, end = valueRange(s, start)
	if end <= start {
		return -1, -1
	}
	if prose && !x.isProseSecret(s, key, start, end) || isCount(key, s[start:end]) {
		return -1, -1
	}
	return start, end
}

// operatorEnd is the end of the operator at s[i]; "==", "!=", "::" and the like
// do not assign.
func operatorEnd(s string, i int) (end int, ok bool) {
	next, previous := byte(0), byte(0)
	if i+1 < len(s) {
		next = s[i+1]
	}
	if i > 0 {
		previous = s[i-1]
	}
	if strings.IndexByte("=!<>:~", previous) >= 0 && previous != 0 {
		return 0, previous == '<' // never
	}
	switch {
	case next == '=' || next == ':':
		return 0, false
	case s[i] == '=' && next == '>':
		return i + 2, true
	}
	return i + 1, true
}

// keyBefore is the key that ends before s[i], and whether it stood in quotes.
func keyBefore(s string, i int) (key string, quoted bool) {
	end := i
	for end > 0 && i-end < 2 && s[end-1] == ' ' {
		end--
	}
	for end > 0 && strings.IndexByte(`"'\]`+"`", s[end-1]) >= 0 && i-end < 6 {
		quoted = quoted || s[end-1] != ']'
		end--
	}
	start := end
	for start > 0 && end-start < maxKey && isKeyByte(s[start-1]) {
		start--
	}
	return s[start:end], quoted
}

// unescaped is the key without the letter of the escape before it: in a text
// that was quoted, a line that begins with pin reads \npin.
func unescaped(s string, i int, key string) string {
	start := strings.LastIndex(s[:i], key)
	if start > 0 && s[start-1] == '\\' && strings.IndexByte("nrt", key[0]) >= 0 {
		return key[1:]
	}
	return key
}

func isKeyByte(c byte) bool {
	return isAlnum(c) || c >= 0x80 || c == '_' || c == '-' || c == '.' || c == '[' || c == '$' || c == '%'
}

// isSecretInText says whether a key in free text is secret. "api key" and
// "access token" are two words there. A bare "key" is too common to be one.
func (x *Scrubber) isSecretInText(s string, i int, key string) bool {
	if bare := strings.Trim(key, "_-.[$"); isOneOf(bare, "key", "code", "phrase", "number") {
		end := strings.LastIndex(s[:i], key)
		if end < 1 || s[end-1] != ' ' {
			return false
		}
		before, _ := keyBefore(s, end-1)
		return isSecretPair(before)
	}
	if x.SecretKey(key) {
		return true
	}
	inner := key[strings.LastIndexByte(key, '[')+1:] // user[su]
	return inner != key && inner != "key" && x.SecretKey(inner)
}

// isOrdinaryLabel says whether what stands before a colon only looks like a
// secret key: a file (session.php:12), or what a parser did not expect.
func (x *Scrubber) isOrdinaryLabel(s string, i int, key string) bool {
	if dot := strings.LastIndexByte(key, '.'); dot >= 0 && !x.SecretKey(key[dot+1:]) {
		return true
	}
	before := strings.TrimSuffix(strings.TrimRight(s[max(0, i-len("unexpected token ")):i], " "), key)
	return strings.EqualFold(key, "token") && hasSuffixFold(before, "expected ")
}

// isSecretPair says whether "key" behind a word of a sentence is a secret one.
func isSecretPair(word string) bool {
	return isOneOf(word, "api", "access", "private", "secret", "encryption", "signing", "license", "master", "ssh", "auth", "pass", "card", "pin")
}

// isOneOf compares without regard to case and without an allocation.
func isOneOf(word string, words ...string) bool {
	for _, w := range words {
		if strings.EqualFold(word, w) {
			return true
		}
	}
	return false
}

// headerRange is the end of the value of a header that holds more than one
// word: Authorization with its scheme, cookies to the end of the line. It is 0
// for other keys.
func headerRange(s string, start int, key string) int {
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

// lineEnd is the end of the line at s[i], or of the quotes that the key before
// it stands in ('Cookie: a=b').
func lineEnd(s string, i int, key string) int {
	stop := "\r\n"
	if k := strings.LastIndex(s[:i], key); k > 0 && strings.IndexByte("\"'`", s[k-1]) >= 0 {
		stop += s[k-1 : k]
	}
	if k := strings.IndexAny(s[i:], stop); k >= 0 {
		return i + k
	}
	return len(s)
}

// valueRange is the range of the value that begins at s[i]: the content of
// quotes or brackets, else up to a delimiter. It is empty for a value that is
// filtered already or says that there is none.
func valueRange(s string, i int) (start, end int) {
	if i >= len(s) {
		return i, i
	}
	start, end = i, valueEnd(s, i)
	if opener := quoteAt(s, i); opener > 0 {
		start += opener
		end = quoteEnd(s, start, s[i:start])
	}
	switch s[start:end] {
	case "", Filtered, "null", "nil", "NULL", "None", "true", "false", "undefined", "***", "******", "********", "[FILTERED]", "[REDACTED]":
		return i, i
	}
	return start, end
}

// quoteAt is the length of the opening quote at s[i], with the backslashes of
// a text that was quoted before; 0 if there is none.
func quoteAt(s string, i int) int {
	k := i
	for k < len(s) && s[k] == '\\' && k-i < 4 {
		k++
	}
	if k < len(s) && (s[k] == '"' || s[k] == '\'' || s[k] == '`') {
		return k + 1 - i
	}
	return 0
}

// quoteEnd is where the quotes are closed, the end of the text if they never are.
func quoteEnd(s string, i int, opener string) int {
	q := opener[len(opener)-1]
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

// valueEnd is the end of a value without quotes: a bracket's mate for a list or
// object, else the next delimiter. A filtered value with more glued to it counts whole.
func valueEnd(s string, i int) int {
	k := i
	if strings.HasPrefix(s[i:], Filtered) {
		if k += len(Filtered); k == len(s) || strings.IndexByte("/.:", s[k]) >= 0 {
			return k
		}
	} else if s[i] == '[' || s[i] == '{' {
		return bracketEnd(s, i)
	}
	for k < len(s) && s[k] > ' ' && strings.IndexByte("&,;)}]\"'`<>|", s[k]) < 0 {
		k++
	}
	for k > i && (s[k-1] == '.' || s[k-1] == '\\' || s[k-1] == ':') {
		k--
	}
	return k
}

// bracketEnd is the end of the bracketed text at s[i], that of its line if it
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

// element is the range of the text of an XML element with a secret name, whose
// start tag ends with the > at s[i].
func (x *Scrubber) element(s string, i int) (start, end int) {
	name := i
	for name > 0 && i-name < maxKey && (isAlnum(s[name-1]) || strings.IndexByte("_-.:", s[name-1]) >= 0) {
		name--
	}
	if name == i || name == 0 || s[name-1] != '<' || !x.SecretKey(s[name:i]) {
		return -1, -1
	}
	k := strings.IndexByte(s[i:], '<')
	if k < 0 || !strings.HasPrefix(s[i+k:], "</") || strings.TrimSpace(s[i+1:i+k]) == "" || s[i+1:i+k] == Filtered {
		return -1, -1
	}
	return i + 1, i + k
}
