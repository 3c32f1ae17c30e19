// Package scrub removes secrets from the texts of an event. It replaces passwords,
// tokens, keys, card numbers and the like by [Filtered] and leaves the names of
// the keys. Ingest calls it before an event goes to the log.
//
// The package has no I/O, no clock and no state. An attacker may have written the
// text: so the rules use no regular expressions, and the patterns that an operator
// adds are RE2, whose time is linear. Every function is linear in its input and
// idempotent. The package does not know events and does not decide which of their
// fields it scrubs.
package scrub

import "strings"

// Version is the version of the rules. It is stored with each event, to tell later
// which rules scrubbed it. Each change of a rule raises it.
const Version = 3

// Filtered replaces a secret. SDKs write the same word.
const Filtered = "[Filtered]"

// maxRounds bounds how often a text is read again after something in it was
// replaced: what was replaced can show or hide a key beside it.
const maxRounds = 4

// Text replaces the secrets in free text by the default rules and the additions:
//
//	values behind secret keys      password=x  "token": "x"  --secret x  <pwd>x</pwd>  Cookie: x
//	the same, escaped              password%3Dx  \u0022token\u0022:\u0022x\u0022  &lt;pwd&gt;x&lt;/pwd&gt;
//	arguments of statements, calls INSERT … (password) VALUES ('x')  IDENTIFIED BY 'x'  curl -u bob:x  PDO->__construct('…', 'bob', 'x')
//	credentials by their form      Bearer x, JWT, PEM blocks, hashes of passwords, and the table in forms.go
//	user and password in URLs      postgres://user:pass@host, user:pass@tcp(host)
//	mail addresses in quotes       Duplicate entry 'x@y.example' for key 'users.email'
//	numbers of people              cards (13 to 19 digits, Luhn), IBAN, US SSN
//	names of home folders          /home/x/, /Users/x, C:\Users\x
//
// It returns a text without secrets as it is, without an allocation.
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

// replaceAll replaces the secrets of a text in one pass from left to right.
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

const (
	decimal     = "0123456789"
	hexadecimal = decimal + "abcdefABCDEF"
)

// consistsOf says whether every byte of a text is in the set.
func consistsOf(s, set string) bool { return strings.Trim(s, set) == "" }

// run is the end of the letters, digits and bytes of more that begin at s[i].
func run(s string, i int, more string) int {
	for i < len(s) && (isAlnum(s[i]) || strings.IndexByte(more, s[i]) >= 0) {
		i++
	}
	return i
}

// back is the beginning of the bytes of a kind that end before s[i], no more
// than most.
func back(s string, i, most int, kind func(byte) bool) int {
	start := i
	for start > 0 && i-start < most && kind(s[start-1]) {
		start--
	}
	return start
}
