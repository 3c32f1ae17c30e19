package signature

import "strings"

// This file decides about one word: a run of letters and digits.

// atom writes the token that begins with the letter or digit in[i].
func (t *templater) atom(i int) int {
	if end := t.plainWord(i); end > 0 {
		return end
	}
	if end := t.memoryMark(i); end > 0 {
		t.emit("<num>")
		return end
	}
	if !t.url && t.belowTemp() {
		end := tempName(t.in, i)
		t.emit("<str>")
		return end
	}
	if isUUID(t.in[i:]) {
		t.emit("<uuid>")
		return i + uuidLen
	}
	if end := t.mail(i); end > 0 {
		t.emit("<email>")
		return end
	}
	if end := textDateAt(t.in, i); end > 0 {
		t.emit("<date>")
		return end
	}
	if end := ipv6At(t.in, i); end > 0 {
		t.emit("<ip>")
		return t.port(end)
	}
	if end := macAt(t.in, i); end > 0 {
		t.emit("<num>")
		return end
	}
	if isDigit(t.in[i]) {
		if end := t.digits(i); end > 0 {
			return end
		}
	}
	end := wordEnd(t.in, i)
	if end := t.opener(i, end); end > 0 {
		return end
	}
	t.writeWord(t.in[i:end], end)
	return end
}

// plainWord writes a short word of letters between spaces, with which nothing
// special can begin. It only makes atom faster and changes no template.
func (t *templater) plainWord(i int) int {
	if t.mailLeft || len(t.out) > 0 && t.out[len(t.out)-1] != ' ' || isUpper(t.in[i]) {
		return 0
	}
	end := i
	for end < len(t.in) && isLetter(t.in[end]) {
		end++
	}
	if end == i || end-i >= 16 || end < len(t.in) && t.in[end] != ' ' && t.in[end] != ',' {
		return 0
	}
	t.keepWord(t.in[i:end])
	return end
}

// opener handles the words that decide about the text behind them: the scheme of
// a URL, the prefix of a string literal, the SQL that frameworks append. It
// returns 0 for other words.
func (t *templater) opener(i, end int) int {
	rest := t.in[end:]
	switch word := t.in[i:end]; {
	case strings.HasPrefix(rest, "://"):
		t.keep(word)
		t.out = append(t.out, "://"...)
		t.url = true
		return end + len("://")
	case word == "b" || word == "u" || word == "r" || word == "N":
		if rest != "" && (rest[0] == '\'' || rest[0] == '"') {
			return t.quoted(i, end)
		}
	case word == "SQL" && strings.HasPrefix(rest, ": "):
		// Laravel's QueryException ends in the statement. Its values stand there
		// without quotes, so that they cannot be told from names.
		if n := len(t.out); n > 0 && t.out[n-1] == '(' || n > 1 && t.out[n-2] == ',' {
			t.out = append(t.out, "SQL: <str>"...)
			t.wordEnd = -1
			return len(t.in)
		}
	}
	return 0
}

// digits writes a date, an address, a size or a number that begins with a digit.
// It returns 0 for other words.
func (t *templater) digits(i int) int {
	in := t.in
	if end := dateAt(in, i); end > 0 {
		t.emit("<date>")
		return end
	}
	if end := ipv4At(in, i); end > 0 {
		t.emit("<ip>")
		return t.port(end)
	}
	if end := unitAt(in, i, durationUnits); end > 0 {
		t.emitSigned("<dur>")
		return end
	}
	if end := unitAt(in, i, sizeUnits); end > 0 {
		t.emitSigned("<size>")
		return end
	}
	end := numberAt(in, i)
	if end == 0 || isWordAt(in, end) {
		return 0
	}
	if t.isCode(in[i:end], in[end:]) || t.isURLStatus(in[i:end], in[end:]) || t.isDriverCode(in[i:end], in[end:]) || t.isErrorNumber(in[i:end]) {
		t.keep(in[i:end])
		return end
	}
	if t.httpVersion(in[i:end]) {
		t.out = append(t.out, in[i:end]...)
		t.wordEnd = len(t.out) // the word before stays HTTP
		return end
	}
	if unit := spacedUnit(in[end:]); unit > 0 {
		t.emitSigned("<size>")
		return end + unit
	}
	t.emitSigned("<num>")
	return end
}

// writeWord writes a word of letters, digits or both that ends at in[end].
func (t *templater) writeWord(word string, end int) {
	shape := shapeOf(word)
	switch {
	case t.isCode(word, t.in[end:]), shape.hexPointer && isHRESULT(word), shape.digits > 0 && isKnownWord(word):
		t.keep(word)
	case shape.hexPointer:
		t.emit("<hex>")
	case shape.allHex && (len(word) >= 16 || len(word) >= 8 && shape.digits > 0), t.isHash(word, shape):
		t.emit("<num>")
	case shape.groups == 1:
		t.writeGroup(word, shape)
	case shape.groups == 2:
		t.writePair(word, shape)
	case isName(word, shape):
		t.keep(word)
	default:
		t.emit("<num>")
	}
}

func (t *templater) writeGroup(word string, shape shape) {
	if shape.digits > 0 || isNoise(word) || t.isSuffix(word) {
		t.emitSigned("<num>")
		return
	}
	t.keepWord(word)
}

// writePair writes letters with a number before or behind them.
func (t *templater) writePair(word string, shape shape) {
	if isDigit(word[0]) {
		letters := word[shape.split:]
		t.emitSigned("<num>")
		if !isNoise(letters) {
			t.keep(letters)
		}
		return
	}
	letters, number := word[:shape.split], word[shape.split:]
	switch {
	case isStem(letters, number) || isVendorCode(letters, number):
		t.keep(word)
	case isNoise(letters) || t.isSuffix(letters):
		t.emit("<num>")
	default:
		t.keepWord(letters)
		t.emit("<num>")
	}
}

// isSuffix says whether a word is the last part of a name that Kubernetes made,
// like api-7f8b9c6d5-xkcdq: five letters without a vowel behind an id.
func (t *templater) isSuffix(word string) bool {
	return len(word) == 5 && strings.HasSuffix(string(tail(t.out, 6)), "<num>-") && strings.IndexFunc(word, notSuffixRune) < 0
}

func notSuffixRune(r rune) bool { return r < 'a' || r > 'z' || isVowel(byte(r)) }

// isHash says whether a word is the hash of an object: com.acme.Cart@1b2c3d.
func (t *templater) isHash(word string, shape shape) bool {
	n := len(t.out)
	return n > 1 && t.out[n-1] == '@' && isAlnum(t.out[n-2]) && shape.allHex && len(word) <= 8
}

// belowTemp says whether the output ends in a folder for temporary files.
func (t *templater) belowTemp() bool {
	n := len(t.out)
	if n < 5 || t.out[n-1] != '/' && t.out[n-1] != '\\' {
		return false
	}
	last := string(tail(t.out, 6))
	return strings.HasSuffix(last, "/tmp/") || last == "/Temp/" || last == `\Temp\`
}

// tempName is the end of the name of a temporary file at in[i], without its
// extension.
func tempName(in string, i int) int {
	end := i
	for end < len(in) && in[end] > ' ' && strings.IndexByte("/\\'\"`<>()[]{},:;|", in[end]) < 0 {
		end++
	}
	dot := strings.LastIndexByte(in[i:end], '.')
	if dot <= 0 {
		return end
	}
	if ext := in[i+dot+1 : end]; ext != "" && len(ext) <= 5 && strings.IndexFunc(ext, notLetter) < 0 {
		return i + dot
	}
	return end
}

func notLetter(r rune) bool { return r > 0x7f || !isLetter(byte(r)) }

func tail(b []byte, n int) []byte {
	if len(b) > n {
		return b[len(b)-n:]
	}
	return b
}

// wordEnd is the end of the run of letters and digits at s[i].
func wordEnd(s string, i int) int {
	for isWordAt(s, i) {
		i++
	}
	return i
}

// endOfWord is end, 0 when a word goes on there.
func endOfWord(s string, end int) int {
	if isWordAt(s, end) {
		return 0
	}
	return end
}

// isWordAt says whether s has a byte of a word at i: an ASCII letter or digit, or
// a byte of any rune beyond ASCII but typographic quotes.
func isWordAt(s string, i int) bool {
	if i >= len(s) {
		return false
	}
	c := s[i]
	if c < 0x80 {
		return isAlnum(c)
	}
	switch {
	case c == 0xc2 && i+1 < len(s):
		return s[i+1] != 0xab && s[i+1] != 0xbb
	case c == 0xe2 && i+2 < len(s) && s[i+1] == 0x80:
		return s[i+2] < 0x98 || s[i+2] > 0x9f
	}
	return true
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isAlnum(c byte) bool  { return isLetter(c) || isDigit(c) }
func isHex(c byte) bool    { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
func isVowel(c byte) bool  { return strings.IndexByte(vowels, c) >= 0 }

const vowels = "aeiouyAEIOUY"

func lower(c byte) byte {
	if isUpper(c) {
		return c | 0x20
	}
	return c
}
