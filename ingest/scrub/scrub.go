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
const Version = 3

// Filtered stands where a secret was. SDKs write the same word.
const Filtered = "[Filtered]"

// maxRounds bounds how often a text is read again after something in it was
// replaced. A replaced piece can show or hide a key beside it, rarely twice.
const maxRounds = 4

// Text replaces the secrets in free text:
//
//	values behind secret keys      password=x  "token": "x"  --secret x  <pwd>x</pwd>  Cookie: x
//	the same, escaped              password%3Dx  \u0022token\u0022:\u0022x\u0022  &lt;pwd&gt;x&lt;/pwd&gt;
//	what statements and calls hold INSERT … (password) VALUES ('x')  IDENTIFIED BY 'x'  curl -u bob:x  PDO->__construct('…', 'bob', 'x')
//	credentials by their form      Bearer x, JWT, PEM blocks, hashes of passwords, and the table in forms.go
//	user and password in URLs      postgres://user:pass@host, user:pass@tcp(host)
//	addresses of mail in quotes    Duplicate entry 'x@y.example' for key 'users.email'
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
	sc := scan{x: x, s: s}
	start, end := sc.next(0)
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
		start, end = sc.next(end)
	}
	out.WriteString(s[last:])
	return out.String()
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
