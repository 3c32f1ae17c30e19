package lenient

import (
	"encoding/binary"
	"math/bits"
)

// passString is the place behind the string whose text begins at doc[at], -1
// when it has no end or holds what may not stand there. It looks at eight bytes
// at a time for the quote at its end, a backslash and control characters.
func passString(doc []byte, at int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for {
		for at+8 <= len(doc) {
			v := binary.LittleEndian.Uint64(doc[at:])
			quote, slash := v^('"'*ones), v^('\\'*ones)
			// The high bit of a byte is set where the byte is one of these; it
			// may also be set in bytes above the first, so only that counts.
			found := ((quote-ones)&^quote | (slash-ones)&^slash | (v-' '*ones)&^v) & highs
			if found != 0 {
				at += bits.TrailingZeros64(found) >> 3
				break
			}
			at += 8
		}
		for at < len(doc) && doc[at] != '"' && doc[at] != '\\' && doc[at] >= ' ' {
			at++
		}
		if at >= len(doc) {
			return -1
		}
		if doc[at] == '"' {
			return at + 1
		}
		if at = passEscape(doc, at); at < 0 {
			return -1
		}
	}
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
