package scrub

import "strings"

// This file finds secret keys before an operator in free text.

// maxKey bounds how far back a key is looked for, maxBlanks the blanks of a
// table between it and the operator.
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
	if key == "" {
		return -1, -1
	}
	sc.pair(key, from)
	return sc.x.valueBehind(s, i, from, key, quoted)
}

// valueBehind is the range of the value behind an operator from s[i] to s[from]
// if its key is secret.
func (x *Scrubber) valueBehind(s string, i, from int, key string, quoted bool) (start, end int) {
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
		if header := headerRange(s, value.at, key); header > value.at {
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
	if value.nextLine && !value.typed && !looksDrawn(s[start:end]) && end < len(s) && s[end] != '\n' && s[end] != '\r' {
		return -1, -1 // a list or a sentence begins there
	}
	return start, end
}

// operatorEnd is the end of the operator at s[i]; "==", "!=", "::" and the like
// do not assign, and ":=" does only in front of a quote.
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
		k := i + 2
		for k < len(s) && s[k] == ' ' {
			k++
		}
		return i + 2, quoteAt(s, k) > 0
	case next == '=' || next == ':':
		return 0, false
	case s[i] == '=' && next == '>':
		return i + 2, true
	}
	return i + 1, true
}

// keyBefore is the key that ends before s[i], and whether it stood in quotes.
func keyBefore(s string, i int) (key string, quoted bool) {
	start, end, quoted := keyRange(s, i)
	key = s[start:end]
	if start > 0 && s[start-1] == ':' && (key == "protected" || key == "private") {
		// How PHP shows whose property it is: ["key":protected], [key:App\User:private]
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

func keyRange(s string, i int) (start, end int, quoted bool) {
	end = i
	for end > 0 && i-end < maxBlanks && (s[end-1] == ' ' || s[end-1] == '\t') {
		end--
	}
	closing := end
	for end > 0 && closing-end < 6 && strings.IndexByte("\"'\\]`", s[end-1]) >= 0 {
		quoted = quoted || s[end-1] != ']'
		end--
	}
	if coded := codedQuoteBefore(s, end); coded > 0 {
		quoted, end = true, end-coded
	}
	start = end
	for start > 0 && end-start < maxKey && isKeyByte(s[start-1]) {
		start--
	}
	return start, end, quoted
}

// ownerStart is where the name of a class before the colon at s[i] begins: at
// the colon before it, i itself if there is none.
func ownerStart(s string, i int) int {
	k := i
	for k > 0 && i-k < maxWord && (isKeyByte(s[k-1]) || strings.IndexByte("\\\"'", s[k-1]) >= 0) {
		k--
	}
	if k > 0 && s[k-1] == ':' {
		return k - 1
	}
	return i
}

// unescaped is the key without the letter of the escape before it: in a text
// that was quoted, a line that begins with pin reads \npin.
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

// isSecretInText says whether a key in free text is secret. "api key" and
// "mot de passe" are more than one word there. A bare "key" is too common to
// be one.
func (x *Scrubber) isSecretInText(s string, i int, key string) bool {
	bare := strings.Trim(key, "_-.[$")
	if isPairEnd(bare) {
		end := lastBefore(s, i, key)
		if end < 1 || s[end-1] != ' ' {
			return end > 0 && (s[end-1] == '?' || s[end-1] == '&') && isOneOf(bare, "key") && isDrawnQuery(s, i)
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

// lastBefore is where a key begins that stands before s[i], -1 if it does not
// stand there as it is because it was escaped.
func lastBefore(s string, i int, key string) int {
	const longest = 4 * maxKey // with its quotes, and the blanks behind it
	from := max(0, i-longest)
	if k := strings.LastIndex(s[from:i], key); k >= 0 {
		return from + k
	}
	return -1
}

// isDrawnQuery says whether the value of "?key=" in the query of an address is
// long and drawn; short ones name a thing.
func isDrawnQuery(s string, i int) bool {
	const least = 16
	end := run(s[:min(len(s), i+maxWord)], i+1, urlSafe)
	return end-i-1 >= least && strings.ContainsAny(s[i+1:end], "0123456789")
}

// isOrdinaryLabel says whether what stands before a colon only looks like a
// secret key: a file (session.php:12), or what a parser did not expect.
func (x *Scrubber) isOrdinaryLabel(s string, i int, key string) bool {
	if dot := strings.LastIndexByte(key, '.'); dot >= 0 && !x.SecretKey(key[dot+1:]) {
		return true
	}
	if start := lastBefore(s, i, key); start > 0 && s[start-1] == '/' {
		value := s[i+1 : run(s, i+1, ".")]
		return value != "" && strings.Trim(value, "0123456789.") == "" // the version of an image, the port of a host
	}
	before := strings.TrimSuffix(strings.TrimRight(s[max(0, i-len("unexpected token ")):i], " "), key)
	return strings.EqualFold(key, "token") && hasSuffixFold(before, "expected ")
}

// isPairEnd says whether a key may be the last word of one of several words.
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

// isSecretPair says whether "key", "phrase" and the like behind a word of a
// sentence are a secret.
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

// isOneOf compares without regard to case and without an allocation.
func isOneOf(word string, words ...string) bool {
	for _, w := range words {
		if strings.EqualFold(word, w) {
			return true
		}
	}
	return false
}
