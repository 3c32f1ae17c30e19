package lenient

import (
	"encoding/binary"
	"math/bits"
)

// passString is the place behind the string whose text begins at doc[at], -1
// when it has no end or holds what may not stand there, and whether there are
// escapes in it. It looks at eight bytes at a time for the quote at its end, a
// backslash and control characters.
func passString(doc []byte, at int) (end int, escaped bool) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for at+8 <= len(doc) {
		v := binary.LittleEndian.Uint64(doc[at:])
		// Two turned over, a quote is a blank and a control character stays one,
		// so both are below 0x21 and nothing else is. The high bit is set where
		// a byte is one of these or a backslash; it may also be set in bytes
		// above the first, so only that counts.
		slash := v ^ ('\\' * ones)
		found := (((v^2*ones)-0x21*ones)&^v | (slash-ones)&^slash) & highs
		if found == 0 {
			at += 8
			continue
		}
		if at += bits.TrailingZeros64(found) >> 3; doc[at] == '"' {
			return at + 1, escaped
		}
		if at, escaped = passEscape(doc, at), true; at < 0 {
			return -1, false
		}
	}
	for at < len(doc) {
		switch c := doc[at]; {
		case c == '"':
			return at + 1, escaped
		case c == '\\' || c < ' ':
			if at, escaped = passEscape(doc, at), true; at < 0 {
				return -1, false
			}
		default:
			at++
		}
	}
	return -1, false
}

// passEscape is the place behind the escape at doc[at], -1 when it is none.
func passEscape(doc []byte, at int) int {
	if doc[at] != '\\' || at+1 == len(doc) {
		return -1
	}
	switch doc[at+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return at + 2
	case 'u':
		if at+6 > len(doc) {
			return -1
		}
		for _, c := range doc[at+2 : at+6] {
			if lower := c | 0x20; !isDigit(c) && (lower < 'a' || lower > 'f') {
				return -1
			}
		}
		return at + 6
	default:
		return -1
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
