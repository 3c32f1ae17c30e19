package signature

import (
	"net/netip"
	"strings"
)

// This file finds addresses, UUIDs and numbers. Each function gets a text and an
// index in it, reads a bounded part, and returns the end of what it found, 0 for
// nothing.

const uuidLen = 36

// isUUID says whether s begins with a UUID that ends there.
func isUUID(s string) bool {
	if len(s) < uuidLen {
		return false
	}
	for i := range uuidLen {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash && s[i] != '-' || !dash && !isHex(s[i]) {
			return false
		}
	}
	return len(s) == uuidLen || !isWordAt(s, uuidLen) && placeholderAt(s[uuidLen:]) == ""
}

// mail finds a mail address. It does not check the same text twice.
func (t *templater) mail(i int) int {
	if !t.mailLeft || i < t.mailEnd {
		return 0
	}
	in, at := t.in, i
	for at < len(in) && isMailByte(in[at]) {
		at++
	}
	t.mailEnd = at
	if at == len(in) || in[at] != '@' {
		return 0
	}
	return domainEnd(in, at+1)
}

// domainEnd is the end of the longest domain at in[i] whose last label has only
// letters and no more of a word behind it; 0 for none.
func domainEnd(in string, i int) (end int) {
	for labels := 0; ; labels++ {
		label, letters := i, true
		for i < len(in) && (isAlnum(in[i]) || in[i] == '-') {
			letters = letters && isLetter(in[i])
			i++
		}
		if i == label {
			return end
		}
		goesOn := i < len(in) && (isWordAt(in, i) || in[i] == '_' || in[i] == '@' || in[i] == '<')
		if labels > 0 && letters && i-label >= 2 && !goesOn {
			end = i
		}
		if i == len(in) || in[i] != '.' {
			return end
		}
		i++
	}
}

func isMailByte(c byte) bool {
	return isAlnum(c) || c == '.' || c == '_' || c == '%' || c == '+' || c == '-'
}

// ipv4At finds an IPv4 address.
func ipv4At(s string, i int) int {
	end := i
	for part := range 4 {
		if part > 0 {
			if end == len(s) || s[end] != '.' {
				return 0
			}
			end++
		}
		value, next := shortNumber(s, end, 3)
		if next == end || value > 255 {
			return 0
		}
		end = next
	}
	if isWordAt(s, end) || end+1 < len(s) && s[end] == '.' && isDigit(s[end+1]) {
		return 0
	}
	return end
}

// maxIPv6 is the length of the longest IPv6 address as text.
const maxIPv6 = 45

// ipv6At finds an IPv6 address. Names of C++ and PHP hold "::" too, so an address
// must have a digit, and all eight groups or "::".
func ipv6At(s string, i int) int {
	end, colons, digits, group := i, 0, 0, i
	for end < len(s) && end-i <= maxIPv6 && (isHex(s[end]) || s[end] == ':') {
		switch {
		case s[end] == ':':
			colons++
			group = end + 1
		case isDigit(s[end]):
			digits++
		case colons == 0 && end-i > 4:
			return 0
		}
		end++
	}
	if colons < 2 || digits == 0 {
		return 0
	}
	end = max(end, ipv4At(s, group))
	if s[end-1] == ':' && s[end-2] != ':' {
		end-- // "::1: refused"
		colons--
		if end+1 < len(s) && s[end+1] == '<' {
			return 0 // a placeholder is no port
		}
	}
	if end < len(s) && (isWordAt(s, end) || s[end] == '<' || s[end] == ':' && s[end-1] == ':') {
		return 0
	}
	if colons < 7 && !strings.Contains(s[i:end], "::") {
		return 0
	}
	if _, err := netip.ParseAddr(s[i:end]); err != nil {
		return 0
	}
	return end
}

// macAt finds a hardware address: six pairs of hex digits.
func macAt(s string, i int) int {
	const length = 17
	if len(s)-i < length || s[i+2] != ':' && s[i+2] != '-' {
		return 0
	}
	for k := range length {
		c := s[i+k]
		if k%3 == 2 && c != s[i+2] || k%3 != 2 && !isHex(c) {
			return 0
		}
	}
	return endOfWord(s, i+length)
}

// firstEphemeralPort is the lowest port that Linux picks for outgoing
// connections. A lower port names a service and tells problems apart.
const firstEphemeralPort = 32768

// port writes the port behind an address.
func (t *templater) port(i int) int {
	in := t.in
	if strings.HasPrefix(in[i:], "]:") {
		t.out = append(t.out, ']')
		i++
	}
	if i == len(in) || in[i] != ':' {
		return i
	}
	port, end := shortNumber(in, i+1, 5)
	if end == i+1 || isWordAt(in, end) {
		return i
	}
	if port < firstEphemeralPort {
		t.out = append(t.out, in[i:end]...)
		return end
	}
	t.out = append(t.out, ':')
	t.emit("<num>")
	return end
}

// numberAt finds a number: digits, groups of thousands, any number of ".digits"
// (decimals, versions), an exponent.
func numberAt(s string, i int) int {
	end := digitsEnd(s, i)
	if end-i <= 3 {
		for end+3 < len(s) && s[end] == ',' && digitsEnd(s, end+1) == end+4 {
			end += 4
		}
		if end+4 == len(s) && s[end] == ',' && digitsEnd(s, end+1) == len(s) {
			end = len(s)
		}
	}
	for end+1 < len(s) && s[end] == '.' && isDigit(s[end+1]) {
		end = digitsEnd(s, end+1)
	}
	if end+1 < len(s) && s[end]|0x20 == 'e' {
		k := end + 1
		if s[k] == '-' || s[k] == '+' {
			k++
		}
		if e := digitsEnd(s, k); e > k && !isWordAt(s, e) {
			end = e
		}
	}
	return end
}

func digitsEnd(s string, i int) int {
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}
