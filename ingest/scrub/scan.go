package scrub

import "slices"

// This file goes over a text once and asks the rules where they may apply.

// scan is the way over one text.
type scan struct {
	x     *Scrubber
	s     string
	ahead []span // what a rule found further on, in order
}

// span is a range of a text.
type span struct{ start, end int }

// The bytes that a secret or the key before it can begin or end with.
const (
	nothing = iota
	letter
	capital
	digit
	separator
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
	for i := from; ; i++ {
		if i >= stop {
			if i >= len(s) && len(sc.ahead) == 0 {
				return -1, -1
			}
			found := sc.ahead[0]
			sc.ahead = sc.ahead[1:]
			if found.end <= from {
				stop, i = sc.stop(), i-1
				continue
			}
			return sc.taken(max(found.start, from), found.end)
		}
		c := triggers[s[i]]
		if c == nothing {
			continue
		}
		if c <= digit {
			if i == 0 || !isAlnum(s[i-1]) {
				start, end = sc.word(i, c)
				if end > start && end > from {
					return sc.taken(max(start, from), end)
				}
				stop = sc.stop()
			}
			for i+1 < stop && uint(triggers[s[i+1]]-letter) <= digit-letter {
				i++ // the rest of the word
			}
			continue
		}
		start, end = sc.sign(i, c)
		if end > start && end > from {
			return sc.taken(max(start, from), end) // what was replaced before stays
		}
		stop = sc.stop()
	}
}

// stop is how far the rules are asked before the next range is known.
func (sc *scan) stop() int {
	if len(sc.ahead) > 0 {
		return sc.ahead[0].start
	}
	return len(sc.s)
}

// taken is a range together with those further on that it touches.
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

// sign asks the rules that begin with a sign at s[i].
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
		return x.tuple(s, i)
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
// and for words that say where one stands.
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
			end = tokenAt(s, i)
			sc.keyword(i)
		}
		return i, end
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
	if i+1 >= len(s) || !isStart[uint16(s[i])<<8|uint16(s[i+1])] {
		return -1, -1
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
