package signature

import "strings"

// This file tells names with digits, and codes, from ids and counts.

// shape says what a word consists of.
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
	s.hexPointer = len(word) > 2 && word[0] == '0' && word[1]|0x20 == 'x' && strings.Trim(word[2:], "0123456789abcdefABCDEF") == ""
	return s
}

// isHRESULT says whether a word that looks like a pointer is a Windows error
// code: 0x80 and six digits. No pointer of a process has this form.
func isHRESULT(word string) bool { return len(word) == 10 && strings.HasPrefix(word[2:], "80") }

// isCode decides by the word before it whether a number or word is an error code.
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
		// A code behind a code: "1146 (42S02)", "[HY000] [2002]".
		return gap == " (" && isSQLState(text) && strings.HasPrefix(rest, ")") ||
			gap == "] [" && digits && len(text) <= 5 && strings.HasPrefix(rest, "]")
	}
	return digits && len(text) <= 5 && isGap(gap) && isCodeWord(word)
}

func notDigit(r rune) bool { return r < '0' || r > '9' }

func isGap(gap string) bool {
	return gap != "" && strings.Trim(gap, " :=#([/") == "" && !strings.HasSuffix(gap, "//")
}

// isCodeWord says whether a number behind the word is a code. The switch has
// whole words; the suffix is for names like statusCode.
func isCodeWord(word string) bool {
	switch word {
	case "status", "errno", "error", "err", "http", "exit", "signal", "winerror", "oserror":
		return true
	}
	return strings.HasSuffix(word, "code")
}

// isVendor says whether "-00942" behind the word is the code of a vendor.
func isVendor(word string) bool {
	switch word {
	case "ora", "tns", "pls", "my", "sql":
		return true
	}
	return false
}

// isSQLState says whether the text has the form of an SQLSTATE: five letters or
// digits, at least one of them a digit.
func isSQLState(text string) bool {
	return len(text) == 5 && strings.ContainsAny(text, "0123456789") &&
		strings.IndexFunc(text, func(r rune) bool { return r >= 0x80 || !isAlnum(byte(r)) }) < 0
}

// httpVersion says whether a number is the version in "HTTP/1.1".
func (t *templater) httpVersion(number string) bool {
	var buf [16]byte
	word, gap := t.before(1, &buf)
	return len(number) <= 3 && string(word) == "http" && string(gap) == "/"
}

// isVendorCode knows the error codes that are one word: E11000 (MongoDB), P2002
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

// isStem says whether letters and number are one name: int64, sha256.
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

// isKnownWord knows words that hold digits.
func isKnownWord(word string) bool {
	switch strings.ToLower(word) {
	case "utf8mb4", "utf8mb3", "i18n", "l10n", "a11y", "k8s", "b2b", "p2p", "e2e", "oauth2", "x86":
		return true
	}
	return false
}

// isName says whether a word of more than two groups is a name like
// Win32Exception or Http2Stream: one short number between two parts that could
// be words. Random ids almost never have this form.
func isName(word string, s shape) bool {
	if s.groups != 3 || isDigit(word[0]) || s.digits > 3 {
		return false
	}
	return isSpeakable(word[:s.split]) && isSpeakable(word[s.split+s.digits:])
}

// isSpeakable says whether letters could be part of a name: three or more, a
// vowel, and capitals only where a name in camel case has them.
func isSpeakable(letters string) bool {
	return len(letters) >= 3 && (strings.ContainsAny(letters, vowels) || strings.ToUpper(letters) == letters) &&
		humps(letters)*4 <= len(letters)
}

// isNoise says whether a run of letters is random: long, with capitals all over
// it, or only the letters of hex digits.
func isNoise(letters string) bool {
	n := len(letters)
	return n >= 16 && shapeOf(letters).allHex || n >= 20 && humps(letters)*5 > n
}

// humps counts the capitals that do not follow a capital.
func humps(letters string) (n int) {
	for i := 1; i < len(letters); i++ {
		if isUpper(letters[i]) && !isUpper(letters[i-1]) {
			n++
		}
	}
	return n
}
