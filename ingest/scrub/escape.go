package scrub

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// This file finds secrets in texts that were escaped: %3D, \u003d, &lt;.

// fullWidthSign is the colon of Chinese and Japanese texts, fullWidthEquals the
// equals sign.
const (
	fullWidthSign   = "："
	fullWidthEquals = "＝"
)

// maxCoded bounds the length of an escaped key: a byte takes up to six there.
const maxCoded = 3 * maxKey

// escaped is the range of the secret value behind the escaped operator at s[i].
func (sc *scan) escaped(i int) (start, end int) {
	s, x := sc.s, sc.x
	rest := s[i:]
	switch {
	case rest[0] == '%' && isOperator(rest):
		return x.percentValue(s, i, i+3, 1)
	case rest[0] == '%' && len(rest) > 5 && rest[1] == '2' && rest[2] == '5' && isOperator(rest[2:]):
		return x.percentValue(s, i, i+5, 2)
	case strings.HasPrefix(rest, fullWidthSign), strings.HasPrefix(rest, fullWidthEquals):
		key, quoted := keyBefore(s, i)
		return x.valueBehind(s, i, i+len(fullWidthSign), key, quoted)
	case !strings.HasPrefix(rest, `\u003`) || len(rest) < 7:
		return -1, -1
	}
	switch rest[5] | 0x20 {
	case 'e':
		return sc.elementText(i, i+6, `\u003c`)
	case 'd', 'a':
		key, _ := keyBefore(s, i)
		if key == "" || !x.isSecretInText(s, i, key) && !x.isSecretInText(s, i, unescaped(s, i, key)) {
			return -1, -1
		}
		return valueRange(s, i+6)
	}
	return -1, -1
}

// isOperator says whether 3D (an equals sign) or 3A (a colon) stands behind the
// first byte of a text, which is a % or the 5 of %25.
func isOperator(s string) bool {
	return len(s) > 3 && s[1] == '3' && (s[2]|0x20 == 'd' || s[2]|0x20 == 'a')
}

// percentValue is the range of the secret value behind the operator from s[i] to
// s[from]. The text was escaped once or twice.
func (x *Scrubber) percentValue(s string, i, from, times int) (start, end int) {
	before := s[max(0, i-maxCoded):i]
	if blank := strings.LastIndexAny(before, " \n\"'"); blank >= 0 {
		before = before[blank+1:]
	}
	for range times {
		before = percentDecoded(before)
	}
	key, quoted := keyBefore(before, len(before))
	if key == "" || !x.isSecretInText(before, len(before), key) {
		return -1, -1
	}
	mark := strings.Repeat("25", times-1)
	for strings.HasPrefix(s[from:], "%"+mark+"20") {
		from += len("%") + len(mark) + len("20")
	}
	start = from
	for _, quote := range [...]string{"22", "27"} {
		if strings.HasPrefix(s[from:], "%"+mark+quote) {
			start = from + len("%") + len(mark) + len(quote)
		}
	}
	for end = start; end < len(s) && s[end] > ' ' && strings.IndexByte("&;\"'<>`\\", s[end]) < 0; end++ {
		if s[end] == '%' && isPercentDelimiter(s[end+1:], mark) {
			break
		}
	}
	value := s[start:end]
	isColon := s[i+2*times]|0x20 == 'a'
	if value == "" || isNone(value) || isNone(percentDecoded(value)) || isColon && !quoted && !looksRandom(value) || isCount(key, value) {
		return -1, -1
	}
	return start, end
}

// isPercentDelimiter says whether the escape whose text behind the % is s ends a
// value.
func isPercentDelimiter(s, mark string) bool {
	s, has := strings.CutPrefix(s, mark)
	if !has || len(s) < 2 {
		return false
	}
	switch strings.ToLower(s[:2]) {
	case "22", "26", "27", "2c", "3b", "7d", "5d", "0a", "0d":
		return true
	}
	return false
}

// percentDecoded is a text with its percent escapes resolved. Broken ones stay.
func percentDecoded(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			code, _ := strconv.ParseUint(s[i+1:i+3], 16, 8) // two hex digits always fit
			out = append(out, byte(code))
			i += 2
			continue
		}
		out = append(out, s[i])
	}
	return string(out)
}

// lastKey is the key at the end of a text.
func lastKey(s string) string {
	s = strings.TrimRight(s, "]\"'")
	return s[back(s, len(s), len(s), isKeyByte):]
}

// unicodeKey is the key that ends at s[end] with its \u escapes resolved, as
// PHP and Python write contrase\u00f1a. Its last piece begins at s[start].
func unicodeKey(s string, start, end int) string {
	start = back(s, start, maxCoded-(end-start), func(c byte) bool { return isKeyByte(c) || c == '\\' })
	out := make([]byte, 0, end-start)
	for i := start; i < end; i++ {
		if s[i] == '\\' && i+5 < end && s[i+1] == 'u' {
			if code, err := strconv.ParseUint(s[i+2:i+6], 16, 32); err == nil {
				out = utf8.AppendRune(out, rune(code))
				i += 5
				continue
			}
		}
		out = append(out, s[i])
	}
	return lastKey(string(out))
}

// entity is the range of the secret value behind the semicolon at s[i]: the text of
// an escaped element (&gt;), or the next text in the format of PHP's serialize.
func (sc *scan) entity(i int) (start, end int) {
	s, x := sc.s, sc.x
	if i >= 3 && s[i-3:i] == "&gt" {
		return sc.elementText(i-3, i+1, "&lt;")
	}
	if i == 0 || s[i-1] != '"' || !strings.HasPrefix(s[i:], ";s:") {
		return -1, -1
	}
	key, _ := keyBefore(s, i)
	from := run(s, i+len(";s:"), "")
	if key == "" || !x.SecretKey(key) || !strings.HasPrefix(s[from:], ":\"") {
		return -1, -1
	}
	start = from + len(":\"")
	end = start + strings.Index(s[start:]+"\";", "\";")
	if isNone(s[start:end]) {
		return -1, -1
	}
	return start, end
}
