package scrub

import (
	"slices"
	"strings"
)

// This file finds the values of secret keys behind an operator in free text.

// maxKey bounds the length of a key, maxBlanks the blanks between it and the
// operator, as in a table.
const (
	maxKey    = 64
	maxBlanks = 32
)

// assignment is the range of the secret value behind the "=" or ":" at s[i].
func (sc *scan) assignment(i int) (start, end int) {
	s := sc.s
	if s[i] == ':' {
		if strings.HasPrefix(s[i:], "://") {
			return urlPassword(s, i)
		}
		if i > 0 && isDigit(s[i-1]) && i+1 < len(s) && isAlnum(s[i+1]) {
			if start, end = telegram(s, i); end > start {
				return start, end
			}
		}
		if i+1 < len(s) && (isDigit(s[i+1]) || s[i+1] == '*') {
			if start, end = pgpass(s, i); end > start {
				return start, end
			}
		}
	}
	from, ok := operatorEnd(s, i)
	if !ok {
		return -1, -1
	}
	key, quoted := keyBefore(s, i)
	sc.pair(key, from)
	return sc.x.valueBehind(s, i, from, key, quoted)
}

// valueBehind is the range of the value behind an operator from s[i] to s[from]
// if its key is secret. quoted says that the key stands in quotes.
func (x *Scrubber) valueBehind(s string, i, from int, key string, quoted bool) (start, end int) {
	if key == "" {
		return -1, -1
	}
	if !x.isSecretInText(s, i, key) {
		plain := unescaped(s, i, key)
		if plain == key || plain == "" || !x.isSecretInText(s, i, plain) {
			return -1, -1
		}
		key = plain
	}
	colon := s[i] == ':' || s[i] >= 0x80
	if colon && !quoted && x.isOrdinaryLabel(s, i, key) {
		return -1, -1
	}
	value := valueStart(s, from)
	if value.at == len(s) {
		return -1, -1
	}
	if !value.nextLine {
		if header := headerEnd(s, value.at, key); header > value.at {
			return value.at, header
		}
	}
	if isErrorList(s[value.at:]) {
		return -1, -1
	}
	prose := colon && (!quoted || isAlpha(s[value.at])) || value.at > from && !quoted && !value.typed || value.nextLine && !value.typed
	start, end = valueRange(s, value.at)
	if end <= start || !prose && isCount(key, s[start:end]) {
		return -1, -1
	}
	whole := start == value.at && s[start] != '[' && s[start] != '{' // without quotes or brackets
	if whole && s[i] != '>' {
		if phrase := phraseEnd(s, start, end, key, !colon); phrase > end {
			return start, phrase
		}
	}
	if prose && (!x.isProseSecret(s, key, start, end) || isCount(key, s[start:end])) {
		return -1, -1
	}
	if value.nextLine && !value.typed && !looksRandom(s[start:end]) && end < len(s) && s[end] != '\n' && s[end] != '\r' {
		return -1, -1 // the next line begins a list or a sentence
	}
	return start, end
}

// operatorEnd is the end of the operator at s[i]. ok is false for what does not
// assign: "==", "!=", "::", and ":=" unless a quote follows.
func operatorEnd(s string, i int) (end int, ok bool) {
	next, previous := byte(0), byte(0)
	if i+1 < len(s) {
		next = s[i+1]
	}
	if i > 0 {
		previous = s[i-1]
	}
	if previous != 0 && strings.IndexByte("=!<>:~", previous) >= 0 {
		return 0, false
	}
	switch {
	case s[i] == ':' && next == '=':
		return i + 2, quoteAt(strings.TrimLeft(s[i+2:], " "), 0) > 0
	case next == '=' || next == ':':
		return 0, false
	case s[i] == '=' && next == '>':
		return i + 2, true
	}
	return i + 1, true
}

// keyBefore is the key that ends before s[i]. quoted says that it stands in quotes.
func keyBefore(s string, i int) (key string, quoted bool) {
	start, end, quoted := keyRange(s, i)
	key = s[start:end]
	if start > 0 && s[start-1] == ':' && (key == "protected" || key == "private") {
		// A property as PHP prints it: ["key":protected], [key:App\User:private]
		owner := start - 1
		if key == "private" {
			owner = ownerStart(s, owner)
		}
		start, end, _ = keyRange(s, owner)
		return s[start:end], true
	}
	if len(key) > 4 && key[0] == 'u' && start > 0 && s[start-1] == '\\' {
		if plain := unicodeKey(s, start, end); plain != "" {
			key = plain
		}
	}
	if strings.IndexByte(key, '%') > 0 {
		key = lastKey(percentDecoded(key))
	}
	return key, quoted
}

// keyRange is the range of the key before s[i], without the quotes around it.
func keyRange(s string, i int) (start, end int, quoted bool) {
	end = back(s, i, maxBlanks, isBlank)
	closing := end
	for end > 0 && closing-end < 6 && strings.IndexByte("\"'\\]`", s[end-1]) >= 0 {
		quoted = quoted || s[end-1] != ']'
		end--
	}
	if coded := codedQuoteBefore(s, end); coded > 0 {
		quoted, end = true, end-coded
	}
	return back(s, end, maxKey, isKeyByte), end, quoted
}

// ownerStart is the place of the colon before the name of a class that ends at
// s[i]; i if there is none.
func ownerStart(s string, i int) int {
	k := back(s, i, maxWord, func(c byte) bool { return isKeyByte(c) || strings.IndexByte("\\\"'", c) >= 0 })
	if k > 0 && s[k-1] == ':' {
		return k - 1
	}
	return i
}

// unescaped is the key without the letters of an escape before it. In a text that
// was escaped, a line that begins with pin reads \npin.
func unescaped(s string, i int, key string) string {
	start := lastBefore(s, i, key)
	if start > 0 && s[start-1] == '\\' && len(key) > 5 && key[0] == 'u' && isHex(key[1]) && isHex(key[4]) {
		return key[5:]
	}
	if start > 0 && s[start-1] == '\\' && strings.IndexByte("nrt", key[0]) >= 0 {
		return key[1:]
	}
	return key
}

func isKeyByte(c byte) bool {
	return isAlnum(c) || c >= 0x80 || c == '_' || c == '-' || c == '.' || c == '[' || c == '$' || c == '%'
}

// isSecretInText says whether the key before s[i] in free text is secret. It may be
// several words: "api key", "mot de passe". "key" alone is too common.
func (x *Scrubber) isSecretInText(s string, i int, key string) bool {
	bare := strings.Trim(key, "_-.[$")
	if isPairEnd(bare) {
		end := lastBefore(s, i, key)
		if end < 1 || s[end-1] != ' ' {
			return end > 0 && (s[end-1] == '?' || s[end-1] == '&') && isOneOf(bare, "key") && isRandomQuery(s, i)
		}
		before, _ := keyBefore(s, end-1)
		return isSecretPair(before, bare)
	}
	if x.SecretKey(key) {
		return true
	}
	inner := key[strings.LastIndexByte(key, '[')+1:] // user[su]
	return inner != key && inner != "key" && x.SecretKey(inner)
}

// lastBefore is the beginning of the key before s[i]; -1 if the text has the key in
// escapes.
func lastBefore(s string, i int, key string) int {
	const longest = 4 * maxKey // with its quotes, and the blanks behind it
	from := max(0, i-longest)
	if k := strings.LastIndex(s[from:i], key); k >= 0 {
		return from + k
	}
	return -1
}

// isRandomQuery says whether the value of "?key=" in a query is long and random. A
// short one names a thing.
func isRandomQuery(s string, i int) bool {
	const least = 16
	end := run(s[:min(len(s), i+maxWord)], i+1, urlSafe)
	return end-i-1 >= least && strings.ContainsAny(s[i+1:end], "0123456789")
}

// isOrdinaryLabel says whether a key before a colon only looks secret: the name of
// a file (session.php:12), or what a parser expected ("expected token: ...").
func (x *Scrubber) isOrdinaryLabel(s string, i int, key string) bool {
	if dot := strings.LastIndexByte(key, '.'); dot >= 0 && !x.SecretKey(key[dot+1:]) {
		return true
	}
	if start := lastBefore(s, i, key); start > 0 && s[start-1] == '/' {
		value := s[i+1 : run(s, i+1, ".")]
		return value != "" && consistsOf(value, decimal+".") // the version of an image or the port of a host
	}
	before := strings.TrimSuffix(strings.TrimRight(s[max(0, i-len("unexpected token ")):i], " "), key)
	return strings.EqualFold(key, "token") && hasSuffixFold(before, "expected ")
}

// isPairEnd says whether a word may be the last one of a key of several words.
func isPairEnd(word string) bool {
	switch len(word) {
	case 3:
		return strings.EqualFold(word, "key")
	case 4:
		return isOneOf(word, "code", "hash")
	case 5:
		return isOneOf(word, "words", "passe", "sandi")
	case 6:
		return isOneOf(word, "phrase", "number", "khẩu")
	case 8:
		return strings.EqualFold(word, "provided")
	}
	return len(word) > 6 && word[0] >= 0x80 && isOneOf(word, "المرور", "السر")
}

// isSecretPair says whether a word and the last word behind it name a secret.
func isSecretPair(word, last string) bool {
	switch {
	case isOneOf(last, "hash"):
		return isOneOf(word, "password")
	case isOneOf(last, "provided"):
		return isOneOf(word, "key", "token", "password")
	case isOneOf(last, "phrase", "words"):
		return isOneOf(word, "seed", "recovery", "backup", "mnemonic", "secret", "pass")
	case isOneOf(last, "passe"):
		return isOneOf(word, "de")
	case last[0] >= 0x80 || isOneOf(last, "sandi"):
		return isOneOf(word, "kata", "mật", "كلمة")
	case isOneOf(last, "code") && isOneOf(word, "recovery", "backup", "security", "verification"):
		return true
	}
	return isOneOf(word, "api", "access", "private", "secret", "encryption", "signing", "license", "master", "ssh", "auth", "pass", "card", "pin")
}

// isOneOf says whether the word is in the list, without regard to case.
func isOneOf(word string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(word, w) })
}
