package scrub

import "strings"

// This file finds the numbers of cards, accounts and people.

// cardAt is the end of the card number at s[i], 0 if there is none: 13 to 19
// digits of a known network that pass Luhn's check, in one piece or in groups
// with a space or dash between them. The network and its lengths are checked
// because one number in ten passes Luhn's check by chance.
func cardAt(s string, i int) int {
	if i > 0 && (s[i-1] == '.' || s[i-1] == '_') || s[i] < '2' || s[i] > '6' {
		return 0
	}
	var number [20]byte
	n, end, sep := 0, i, byte(0)
	for k := i; k < len(s); k++ {
		c := s[k]
		if isDigit(c) {
			if n == len(number) {
				return 0
			}
			number[n] = c - '0'
			n, end = n+1, k+1
			continue
		}
		if c != ' ' && c != '-' || sep != 0 && c != sep || k != end || (n != 4 && n%4 != 0 && n != 10) {
			break
		}
		sep = c
	}
	if end < len(s) && (isAlnum(s[end]) || s[end] == '_') || end+1 < len(s) && s[end] == '.' && isDigit(s[end+1]) {
		return 0
	}
	if n < 13 || n > 19 || !isCardNetwork(number[:n]) || !luhn(number[:n]) {
		return 0
	}
	return end
}

// isCardNetwork says whether the first digits and the length are those of a network.
func isCardNetwork(d []byte) bool {
	two := int(d[0])*10 + int(d[1])
	four := two*100 + int(d[2])*10 + int(d[3])
	three := four / 10
	switch n := len(d); {
	case d[0] == 4: // Visa; no longer with 13 digits, which counters have
		return n == 16 || n == 19
	case two >= 51 && two <= 55 || four >= 2221 && four <= 2720: // Mastercard
		return n == 16
	case two == 34 || two == 37: // American Express
		return n == 15
	case three >= 300 && three <= 305 || two == 36 || two == 38 || two == 39: // Diners Club
		return n == 14 || n == 16
	case four == 6011 || two == 65 || three >= 644 && three <= 649 || two == 62: // Discover, UnionPay
		return n >= 16
	case four >= 3528 && four <= 3589: // JCB
		return n >= 16
	case four == 5018 || four == 5020 || four == 5038 || four == 6304 || four == 6759 || four >= 6761 && four <= 6763: // Maestro
		return true
	}
	return false
}

func luhn(d []byte) bool {
	sum := 0
	for i, c := range d {
		v := int(c)
		if (len(d)-i)%2 == 0 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return sum%10 == 0
}

// ssnAt is the end of the US social security number at s[i], 0 if there is none.
func ssnAt(s string, i int) int {
	const length = len("123-45-6789")
	if len(s)-i < length || s[i+3] != '-' || s[i+6] != '-' {
		return 0
	}
	for k := range length {
		if k != 3 && k != 6 && !isDigit(s[i+k]) {
			return 0
		}
	}
	end := i + length
	if end < len(s) && (isAlnum(s[end]) || s[end] == '-' || s[end] == '_') || i > 0 && strings.IndexByte("-_.+", s[i-1]) >= 0 {
		return 0
	}
	area := s[i : i+3]
	if area == "000" || area == "666" || area[0] == '9' || s[i+4:i+6] == "00" || s[i+7:end] == "0000" {
		return 0
	}
	return end
}

// The lengths of IBANs: Norway's 15 to Malta's 31, with room to 34.
const (
	minIBAN = 15
	maxIBAN = 34
)

// ibanAt is the end of the IBAN at s[i], in one piece or in groups of four; 0
// if there is none. The check digits (mod 97) let one other text in a hundred pass.
func ibanAt(s string, i int) int {
	if len(s)-i < minIBAN || !isUpper(s[i]) || !isUpper(s[i+1]) || !isDigit(s[i+2]) || !isDigit(s[i+3]) {
		return 0
	}
	var iban [maxIBAN]byte
	n, end, digits := 0, 0, 0
	for k := i; k < len(s) && n < maxIBAN; k++ {
		c := s[k]
		if c == ' ' && n%4 == 0 && k == end {
			continue
		}
		if !isDigit(c) && !isUpper(c) {
			break
		}
		if isDigit(c) {
			digits++
		}
		iban[n] = c
		n, end = n+1, k+1
		// A word in capitals may follow an IBAN in groups, so the shortest text
		// that passes is the IBAN.
		if n >= minIBAN && (end == len(s) || !isAlnum(s[end])) && digits*2 > n && mod97(iban[:n]) {
			return end
		}
	}
	return 0
}

// mod97 checks an IBAN: with its first four characters at the end and letters
// counted from 10, the number divided by 97 leaves 1.
func mod97(iban []byte) bool {
	rest := 0
	for i := range iban {
		c := iban[(i+4)%len(iban)]
		if isDigit(c) {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c-'A') + 10) % 97
		}
	}
	return rest == 1
}
