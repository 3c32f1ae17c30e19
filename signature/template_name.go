package signature

import "strings"

// This file tells names that carry digits and codes from ids and counts.

// shape is what a word is made of.
type shape struct {
	digits     int
	groups     int // runs of digits and runs of letters
	split      int // where the second group begins
	allHex     bool
	hexPointer bool // 0x and hex digits
}

func shapeOf(word string) shape {
	s := shape{allHex: true}
	wasDigit := false
	for i := range len(word) {
		digit := isDigit(word[i])
		if digit {
			s.digits++
		}
		if i == 0 || digit != wasDigit {
			s.groups++
			if s.groups == 2 {
				s.split = i
			}
		}
		wasDigit = digit
		s.allHex = s.allHex && isHex(word[i])
	}
	if len(word) > 2 && word[0] == '0' && word[1]|0x20 == 'x' {
		s.hexPointer = true
		for i := 2; i < len(word); i++ {
			s.hexPointer = s.hexPointer && isHex(word[i])
		}
	}
	return s
}

// isHRESULT says whether a pointer-like word is one of Windows' error codes,
// 0x80 and six digits; no pointer of a process looks like that.
func isHRESULT(word string) bool { return len(word) == 10 && strings.HasPrefix(word[2:], "80") }

// isCode says whether the number or word is an error code by what stands before it.
func (t *templater) isCode(text, rest string) bool {
	if len(text) > 6 || len(rest) > 1 && (rest[0] == '.' || rest[0] == ',') && isDigit(rest[1]) {
		return false
	}
	var buf [16]byte
	w, g := t.before(3, &buf)
	if w == nil {
		return false
	}
	word, gap := string(w), string(g)
	digits := strings.IndexFunc(text, notDigit) < 0
	switch {
	case isVendor(word) && gap == "-":
		return digits && len(text) >= 3
	case word == "sqlstate" && isGap(gap):
		return isSQLState(text)
	case isDigit(word[0]) || isSQLState(word):
		// The codes that follow a code: "1146 (42S02)", "[HY000] [2002]".
		return gap == " (" && isSQLState(text) && strings.HasPrefix(rest, ")") ||
			gap == "] [" && digits && len(text) <= 5 && strings.HasPrefix(rest, "]")
	}
	return digits && len(text) <= 5 && isGap(gap) && isCodeWord(word)
}

func notDigit(r rune) bool { return r < '0' || r > '9' }

func isGap(gap string) bool {
	return gap != "" && strings.Trim(gap, " :=#([/") == "" && !strings.HasSuffix(gap, "//")
}

// isCodeWord says whether a number behind the word is a code. The first group
// are whole words, the second the ends of names like statusCode.
func isCodeWord(word string) bool {
	switch word {
	case "status", "errno", "error", "err", "http", "exit", "signal", "winerror", "oserror":
		return true
	}
	return strings.HasSuffix(word, "code")
}

// isVendor says whether "-00942" behind the word is a vendor's code.
func isVendor(word string) bool {
	switch word {
	case "ora", "tns", "pls", "my", "sql":
		return true
	}
	return false
}

// isSQLState says whether the text has the form of an SQLSTATE: five digits
// and capitals, at least one of them a digit.
func isSQLState(text string) bool {
	digits := 0
	for i := range len(text) {
		c := text[i]
		if isDigit(c) {
			digits++
		} else if !isLetter(c) {
			return false
		}
	}
	return len(text) == 5 && digits > 0
}

// httpVersion says whether a number is the version in "HTTP/1.1".
func (t *templater) httpVersion(number string) bool {
	var buf [16]byte
	word, gap := t.before(1, &buf)
	return len(number) <= 3 && string(word) == "http" && string(gap) == "/"
}

// isVendorCode knows error codes that are one word: E11000 (MongoDB), P2002
// (Prisma), TS2304, CS0246, MSB3073 (compilers), PGRST116.
func isVendorCode(letters, number string) bool {
	switch letters {
	case "E":
		return len(number) == 5
	case "P", "TS", "CS", "MSB", "ORA", "AH", "CA":
		return len(number) >= 4 && len(number) <= 5
	case "PGRST", "NETSDK", "ERR":
		return len(number) >= 3 && len(number) <= 5
	}
	return false
}

// isStem says whether a number belongs to the name before it: int64, sha256.
func isStem(letters, number string) bool {
	if len(number) > 3 || len(letters) > 10 {
		return false
	}
	switch strings.ToLower(letters) {
	case "int", "uint", "float", "sha", "utf", "ucs", "base", "ipv", "crc", "md", "aes", "tlsv", "sslv",
		"php", "python", "win", "amd", "arm", "pkcs", "oauth", "http", "mp", "ec", "neo", "cp", "bit", "complex":
		return true
	case "v", "x":
		return len(number) <= 2 || number == "509"
	case "s":
		return number == "3"
	case "h", "es", "i", "vue", "web", "log", "k":
		return len(number) == 1 || number == "264" || number == "265" || number == "386"
	}
	return false
}

// isKnownWord knows words with digits in the middle.
func isKnownWord(word string) bool {
	switch strings.ToLower(word) {
	case "utf8mb4", "utf8mb3", "i18n", "l10n", "a11y", "k8s", "b2b", "p2p", "e2e", "oauth2", "x86":
		return true
	}
	return false
}

// isName says whether a word of more than two groups is a name like
// Win32Exception or Http2Stream: one short number between two parts that could
// be words. Drawn ids hardly ever look like that.
func isName(word string, s shape) bool {
	if s.groups != 3 || isDigit(word[0]) || s.digits > 3 {
		return false
	}
	return isSpeakable(word[:s.split]) && isSpeakable(word[s.split+s.digits:])
}

// isSpeakable says whether letters could be part of a name: three or more, a
// vowel, and capitals only where a name in camel case has them.
func isSpeakable(letters string) bool {
	humps, vowels := 0, 0
	for i := range len(letters) {
		if isVowel(letters[i]) {
			vowels++
		}
		if i > 0 && isUpper(letters[i]) && !isUpper(letters[i-1]) {
			humps++
		}
	}
	return len(letters) >= 3 && (vowels > 0 || strings.ToUpper(letters) == letters) && humps*4 <= len(letters)
}

// isNoise says whether a run of letters is drawn and not written: long, with
// capitals strewn over it, or hex digits of a hash that happen to be letters.
func isNoise(letters string) bool {
	if len(letters) < 16 {
		return false
	}
	humps, hex := 0, 0
	for i := range len(letters) {
		if isHex(letters[i]) {
			hex++
		}
		if i > 0 && isUpper(letters[i]) && !isUpper(letters[i-1]) {
			humps++
		}
	}
	return hex == len(letters) || len(letters) >= 20 && humps*5 > len(letters)
}
