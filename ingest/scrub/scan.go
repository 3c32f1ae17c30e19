package scrub

import (
	"slices"
	"strings"
)

// This file goes over a text once and applies the rules where they may match.

// scan is one pass over one text.
type scan struct {
	x     *Scrubber
	s     string
	ahead []span // secrets that rules found further on, in order

	// Up to where lists of values and the command line of a program were read.
	// They are not read again, so that the time stays linear.
	valuesRead, commandRead int
	program                 *option
}

// span is a range of a text.
type span struct{ start, end int }

// The kinds of bytes that words are made of. Each is a bit, so that several can be
// added up for a word.
const (
	nothing = 0
	letter  = 1
	capital = 2
	digit   = 4
)

// The kinds of the other bytes at which a rule begins.
const (
	separator = digit + 1 + iota
	slash
	backslash
	dash
	at
	bracket
	semicolon
	comma
	paren
	dollar
	percent
	brace
	star
	fullWidth
)

var triggers = func() (t [256]uint8) {
	for c := byte('0'); c <= '9'; c++ {
		t[c] = digit
	}
	for c := byte('a'); c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = letter, capital
	}
	t['='], t[':'], t['>'] = separator, separator, bracket
	t['/'], t['\\'], t['-'], t['@'] = slash, backslash, dash, at
	t[';'], t[','], t['('], t['{'] = semicolon, comma, paren, brace
	t['$'], t['%'], t['*'], t[fullWidthSign[0]] = dollar, percent, star, fullWidth
	return t
}()

// next is the range of the first secret at or behind from, -1 when there is none.
func (sc *scan) next(from int) (start, end int) {
	s := sc.s
	stop := sc.stop()
	i := from
	if i > 0 && i < stop && isAlnum(s[i-1]) {
		i = skipWordBytes(s, i, stop) // not the beginning of a word
	}
	for ; ; i++ {
		if i >= stop {
			found, ok := sc.known(from)
			if ok || i >= len(s) {
				return found.start, found.end
			}
			stop = len(s)
		}
		c := triggers[s[i]]
		if c == nothing {
			continue
		}
		if c > digit {
			start, end = sc.sign(i, c)
		} else {
			if start = -1; c == digit || mayStart(s, i) || c == capital && mayBeNumber(s, i) {
				start, end = sc.word(i, c)
			}
			if start < 0 {
				began := i
				i, c = wordEnd(s, i, c)
				if i-began >= leastBeside-1 && c > digit {
					sc.beside(began)
				}
				if len(sc.ahead) > 0 {
					stop = sc.stop()
				}
				continue
			}
		}
		if end > start && end > from {
			return sc.taken(max(start, from), end) // what stands before from is replaced already
		}
		stop = sc.stop()
	}
}

// skipWordBytes is the end of the letters and digits at s[i], at most stop.
func skipWordBytes(s string, i, stop int) int {
	for i < stop && triggers[s[i]]-letter <= digit-letter {
		i++
	}
	return i
}

// wordEnd is the last byte of the word at s[i], and the kinds of its bytes.
func wordEnd(s string, i int, kinds uint8) (last int, all uint8) {
	for i++; i < len(s) && triggers[s[i]]-letter <= digit-letter; i++ {
		kinds |= triggers[s[i]]
	}
	return i - 1, kinds
}

// known takes the next range that was found ahead and does not end before from.
func (sc *scan) known(from int) (found span, ok bool) {
	for len(sc.ahead) > 0 {
		found, sc.ahead = sc.ahead[0], sc.ahead[1:]
		if found.end > from {
			start, end := sc.taken(max(found.start, from), found.end)
			return span{start, end}, true
		}
	}
	return span{-1, -1}, false
}

// mayStart says whether the word at s[i] begins with the first three bytes of a
// credential or a keyword. Nearly none does, and the others need no further look.
func mayStart(s string, i int) bool {
	if i+minWord > len(s) {
		return false
	}
	at := startBits(s[i], s[i+1], s[i+2])
	return starts[at>>6]&(1<<(at&63)) != 0
}

// mayBeNumber says whether a capital at s[i] may begin an IBAN or a token of
// Discord.
func mayBeNumber(s string, i int) bool {
	return i+minWord <= len(s) && (isDigit(s[i+2]) && isUpper(s[i+1]) || s[i] >= 'M' && s[i] <= 'O' && isDiscordByte(s, i))
}

// minWord is the least number of bytes from the beginning of a word to the end of the
// text for which a rule can match: "is x1y2z3".
const minWord = 8

// starts has a bit for the first three bytes of each credential and keyword. Other
// words can share a bit; the rules find that out.
var starts = func() (bits [1 << 10]uint64) {
	begins := func(word string) {
		at := startBits(word[0], word[1], word[2])
		bits[at>>6] |= 1 << (at & 63)
	}
	for _, f := range forms {
		if len(f.prefix) > 2 {
			begins(f.prefix)
			continue
		}
		for _, hex := range "0123456789abcdef" { // AC and SK of Twilio
			begins(f.prefix + string(hex))
		}
	}
	words := slices.Concat(keywordNames[:], []string{"bearer", "basic", "pat", "atlasv1", "Private-Lines"})
	for program := range options {
		words = append(words, program)
	}
	for _, word := range words {
		if len(word) < 3 {
			word += " "
		}
		begins(word)
		begins(strings.ToUpper(word))
		begins(strings.ToUpper(word[:1]) + word[1:])
	}
	return bits
}()

// startBits is a number for three bytes. It ignores the case of the second and third.
func startBits(a, b, c byte) uint16 {
	return uint16(a&63)<<10 | uint16(b&31)<<5 | uint16(c&31)
}

// stop is the beginning of the next range that was found ahead, else the end of the
// text. The rules are applied up to it.
func (sc *scan) stop() int {
	if len(sc.ahead) > 0 {
		return sc.ahead[0].start
	}
	return len(sc.s)
}

// taken joins a range with those found ahead that it overlaps.
func (sc *scan) taken(start, end int) (int, int) {
	for len(sc.ahead) > 0 && sc.ahead[0].start < end {
		end = max(end, sc.ahead[0].end)
		sc.ahead = sc.ahead[1:]
	}
	return start, end
}

// later remembers a secret that a rule found further on.
func (sc *scan) later(start, end int) {
	if start >= end || isNone(sc.s[start:end]) {
		return
	}
	k, _ := slices.BinarySearchFunc(sc.ahead, start, func(p span, start int) int { return p.start - start })
	sc.ahead = slices.Insert(sc.ahead, k, span{start, end})
}

// sign applies the rules that begin with the sign at s[i].
func (sc *scan) sign(i int, class uint8) (start, end int) {
	s, x := sc.s, sc.x
	switch class {
	case separator:
		return sc.assignment(i)
	case slash:
		return homeName(s, i)
	case backslash:
		if start, end = homeName(s, i); end > start {
			return start, end
		}
		return sc.escaped(i)
	case dash:
		return x.dashes(s, i)
	case at:
		if start, end = dsnPassword(s, i); end > start {
			return start, end
		}
		return mailAddress(s, i)
	case bracket:
		return sc.element(i)
	case semicolon:
		return sc.entity(i)
	case comma:
		if i > 0 && (s[i-1] == '"' || s[i-1] == '\'') {
			return x.tuple(s, i)
		}
	case paren:
		sc.call(i)
	case dollar:
		return i, hashAt(s, i)
	case percent, fullWidth:
		return sc.escaped(i)
	case brace:
		if i+1 < len(s) && isUpper(s[i+1]) {
			return i, schemeHash(s, i)
		}
	case star:
		if i+1 < len(s) && isHex(s[i+1]) {
			return i, mysqlHash(s, i)
		}
	}
	return -1, -1
}

// word looks for a credential, an account or a card number that begins at s[i],
// and for a keyword.
func (sc *scan) word(i int, class uint8) (start, end int) {
	s := sc.s
	if class == digit {
		if end = cardAt(s, i); end > 0 {
			return i, end
		}
		if end = ssnAt(s, i); end > 0 {
			return i, end
		}
		if s[i] == '1' || s[i] == '7' {
			if end = tokenAt(s, i); end > 0 {
				return i, end
			}
			sc.keyword(i)
		}
		return -1, -1
	}
	if class == capital {
		if end = ibanAt(s, i); end > 0 {
			return i, end
		}
		if s[i] >= 'M' && s[i] <= 'O' {
			if end = discordAt(s, i); end > 0 {
				return i, end
			}
		}
	}
	if start, end = bearer(s, i); end > start {
		return start, end
	}
	if end = tokenAt(s, i); end > 0 {
		return i, end
	}
	switch s[i] {
	case 'p':
		if end = airtableAt(s, i); end > 0 {
			return i, end
		}
	case 'a':
		if start, end = terraform(s, i); end > start {
			return start, end
		}
	case 'P':
		if start, end = puttyKey(s, i); end > start {
			sc.later(start, end)
			return -1, -1
		}
	}
	sc.keyword(i)
	return -1, -1
}
