package lenient

import (
	"encoding/binary"
	"math/bits"
)

// passString finds the end of the string whose text begins at doc[at]: behind its
// closing quote, -1 if it has none or is not valid. escaped says that the string has
// escapes. It looks for a quote, a backslash and control characters in eight bytes at
// a time.
func passString(doc []byte, at int) (end int, escaped bool) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for at+8 <= len(doc) {
		v := binary.LittleEndian.Uint64(doc[at:])
		// XOR with 2 makes a quote (0x22) a blank (0x20) and leaves a control
		// character one, so both are below 0x21 and no other byte is. The high bit is
		// set in each byte that is one of these or a backslash. It may be set wrongly
		// above the first such byte, so only the first counts.
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

// passEscape is the end of the escape at doc[at], -1 if there is no valid one.
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
