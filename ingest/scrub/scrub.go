// Package scrub removes secrets from what an event carries: passwords, tokens,
// keys, card numbers and the like become [Filtered], the keys they stood under
// stay. Ingest calls it before an event goes to the log.
//
// The package is pure: no I/O, no clock, no state. Its own rules use no regular
// expressions (the text is an attacker's); patterns that an operator adds are
// RE2, whose time is linear, too. Every function is linear in its input and
// idempotent. It does not decide which fields of an event pass through it, and
// it knows nothing of events.
package scrub

import "strings"

// Version is the version of the rules. It is stored with each event, so that
// one can tell later what an event was scrubbed by; it grows with each change
// of a rule.
const Version = 2

// Filtered stands where a secret was. SDKs write the same word.
const Filtered = "[Filtered]"

// maxRounds bounds how often a text is read again after something in it was
// replaced. A replaced piece can show or hide a key beside it, rarely twice.
const maxRounds = 4

// Text replaces the secrets in free text:
//
//	values behind secret keys      password=x  "token": "x"  --secret x  <pwd>x</pwd>  Cookie: x
//	credentials by their form      Bearer x, JWT, AWS, GitHub, GitLab, Slack, Stripe, Google keys, our own, PEM blocks
//	user and password in URLs      postgres://user:pass@host, user:pass@tcp(host)
//	numbers of people              cards (13 to 19 digits, Luhn), IBAN, US SSN
//	names of home folders          /home/x/, /Users/x, C:\Users\x
//
// A text without secrets is returned as it is, without an allocation.
func Text(s string) string { return standard.Text(s) }

// Text is [Text] with the additions of x.
func (x *Scrubber) Text(s string) string {
	for range maxRounds {
		clean := x.matches(x.replaceAll(s))
		if clean == s {
			break
		}
		s = clean
	}
	return s
}

// replaceAll replaces each secret that is found going from left to right.
func (x *Scrubber) replaceAll(s string) string {
	start, end := x.find(s, 0)
	if start < 0 {
		return s
	}
	var out strings.Builder
	out.Grow(len(s) + len(Filtered))
	last := 0
	for start >= 0 {
		out.WriteString(s[last:start])
		out.WriteString(Filtered)
		last = end
		start, end = x.find(s, end)
	}
	out.WriteString(s[last:])
	return out.String()
}

// find is the range of the first secret at or behind from, -1 when there is none.
func (x *Scrubber) find(s string, from int) (start, end int) {
	for i := from; i < len(s); i++ {
		c := triggers[s[i]]
		if c == nothing {
			continue
		}
		switch c {
		case letter, capital, digit:
			if i > 0 && isAlnum(s[i-1]) {
				continue
			}
			start, end = word(s, i, c)
		case separator:
			start, end = x.assignment(s, i)
		case slash:
			start, end = homeName(s, i)
		case dash:
			start, end = x.dashes(s, i)
		case at:
			start, end = dsnPassword(s, i)
		case bracket:
			start, end = x.element(s, i)
		}
		if end > start && end > from {
			return max(start, from), end // what was replaced before stays
		}
	}
	return -1, -1
}

// The bytes that a secret or the key before it can begin or end with.
const (
	nothing = iota
	letter
	capital
	digit
	separator
	slash
	dash
	at
	bracket
)

var triggers = func() (t [256]uint8) {
	for c := byte('0'); c <= '9'; c++ {
		t[c] = digit
	}
	for c := byte('A'); c <= 'Z'; c++ {
		t[c] = capital
	}
	for _, c := range []byte("begrswx") {
		t[c] = letter
	}
	t['='], t[':'] = separator, separator
	t['/'], t['\\'] = slash, slash
	t['-'], t['@'], t['>'] = dash, at, bracket
	return t
}()

// word looks for a credential, an account or a card number that begins at s[i].
func word(s string, i int, class uint8) (start, end int) {
	if class == digit {
		if end := cardAt(s, i); end > 0 {
			return i, end
		}
		if end := ssnAt(s, i); end > 0 {
			return i, end
		}
		return -1, -1
	}
	if class == capital {
		if end := ibanAt(s, i); end > 0 {
			return i, end
		}
	}
	if start, end := bearer(s, i); end > start {
		return start, end
	}
	if end := tokenAt(s, i); end > 0 {
		return i, end
	}
	return -1, -1
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isAlnum(c byte) bool { return isAlpha(c) || isDigit(c) }
func isHex(c byte) bool   { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// run is the end of the bytes at s[i] that belong to a kind of token.
func run(s string, i int, more string) int {
	for i < len(s) && (isAlnum(s[i]) || strings.IndexByte(more, s[i]) >= 0) {
		i++
	}
	return i
}
