package scrub

import (
	"slices"
	"strings"
)

// This file finds credentials by their form.

// formsOf are the forms by their first byte.
var formsOf = func() (of [128][]form) {
	for _, f := range forms {
		of[f.prefix[0]] = append(of[f.prefix[0]], f)
	}
	return of
}()

// maxProbe bounds how many bytes are read to decide whether they are a credential.
const maxProbe = 128

// tokenAt is the end of the credential that begins at s[i], 0 if none does.
func tokenAt(s string, i int) int {
	rest := s[i:]
	if len(rest) < 8 {
		return 0 // shorter than all credentials
	}
	of := formsOf[rest[0]&0x7f]
	for k := range of {
		if f := &of[k]; rest[1] == f.prefix[1] && strings.HasPrefix(rest, f.prefix) {
			if end := f.end(s, i+len(f.prefix)); end > 0 {
				return end
			}
		}
	}
	return 0
}

// end is the end of the credential whose prefix ends at s[from], 0 if it is none.
func (f *form) end(s string, from int) int {
	limit := min(len(s), from+maxProbe)
	var probe int
	switch f.looks {
	case hexed, exact:
		probe = from
		for probe < limit && isHex(s[probe]) && (f.looks == hexed || !isUpper(s[probe])) {
			probe++
		}
		if probe < len(s) && isAlnum(s[probe]) || f.looks == exact && probe != from+f.min {
			return 0
		}
	default:
		probe = run(s[:limit], from, f.bytes)
	}
	if probe-from < f.min || !f.looks.fit(s[from:probe]) {
		return 0
	}
	end := run(s, probe, f.bytes)
	for end > from+f.min && strings.IndexByte("._-,:/", s[end-1]) >= 0 {
		end-- // punctuation behind the credential
	}
	return end
}

// fit says whether a text has the kinds of bytes that are asked of it.
func (l looks) fit(s string) bool {
	switch l {
	case numbered:
		return strings.ContainsAny(s, decimal)
	case mixed:
		return isMixed(s)
	default:
		return true
	}
}

// isMixed says whether a text has a digit, a capital and a small letter.
func isMixed(s string) bool {
	digits, capitals, smalls := false, false, false
	for i := range len(s) {
		switch c := s[i]; {
		case isDigit(c):
			digits = true
		case isUpper(c):
			capitals = true
		case isAlpha(c):
			smalls = true
		}
	}
	return digits && capitals && smalls
}

// discordAt is the end of the token of a Discord bot at s[i], 0 if there is
// none: the id of the bot in base64, 6 letters, and 27 or more, with full stops
// between them.
func discordAt(s string, i int) int {
	const shortest, longest, middle, last = 23, 28, 6, 27
	for dot := i + shortest; dot <= i+longest && dot+middle+last < len(s); dot++ {
		if s[dot] != '.' || s[dot+middle+1] != '.' {
			continue
		}
		if run(s[:dot], i, urlSafe) != dot || run(s, dot+1, urlSafe) != dot+middle+1 {
			return 0
		}
		if end := run(s, dot+middle+2, urlSafe); end-dot-middle-2 >= last && isMixed(s[i:end]) {
			return end
		}
	}
	return 0
}

// isDiscordByte says whether a token of Discord may begin at s[i]. Words are rarely
// as long.
func isDiscordByte(s string, i int) bool {
	const shortest = 23
	return i+shortest < len(s) && s[i+shortest] != ' ' && s[i+shortest-1] != ' ' && s[i+shortest-2] != ' '
}

// airtableAt is the end of a personal token of Airtable at s[i], 0 if there is none.
func airtableAt(s string, i int) int {
	const id, secret = len("pat") + 14, 64
	end := i + id + 1 + secret
	if end > len(s) || s[i+id] != '.' || !strings.HasPrefix(s[i:], "pat") || run(s, i, "") != i+id || run(s, i+id+1, "") != end {
		return 0
	}
	return end
}

// telegram is the range of the token of a Telegram bot around the colon at
// s[i]: 8 to 10 digits before it, 35 letters or some more behind it.
func telegram(s string, i int) (start, end int) {
	const least, most, secret, longest = 8, 10, 35, 48
	end = run(s[:min(len(s), i+1+longest+1)], i+1, urlSafe)
	start = back(s, i, most+1, isDigit)
	if end < i+1+secret || end > i+1+longest || i-start < least || i-start > most || !isMixed(s[i:end]) {
		return -1, -1
	}
	return start, end
}

// mailchimp is the range of a key of Mailchimp around the dash at s[i]: 32 hex
// digits before it, the data centre (us7) behind it.
func mailchimp(s string, i int) (start, end int) {
	const length = 32
	start = i - length
	if start < 0 || start > 0 && isAlnum(s[start-1]) || !consistsOf(s[start:i], hexadecimal) {
		return -1, -1
	}
	return start, run(s, i+1, "")
}

// terraform is the range of a token of Terraform around .atlasv1., whose a is at s[i].
func terraform(s string, i int) (start, end int) {
	const mark, least = "atlasv1.", 32
	if i == 0 || s[i-1] != '.' || !strings.HasPrefix(s[i:], mark) {
		return -1, -1
	}
	start = back(s, i-1, least-1, isAlnum)
	end = run(s, i+len(mark), urlSafe)
	if end-i-len(mark) < least {
		return -1, -1
	}
	return start, end
}

// hashAt is the end of the hash of a password that begins with the $ at s[i],
// 0 if there is none.
func hashAt(s string, i int) int {
	for k := range hashForms {
		if f := &hashForms[k]; strings.HasPrefix(s[i+1:], f.prefix) {
			end := f.end(s, i+1+len(f.prefix))
			if end > 0 && (f.looks == mixed || strings.Count(s[i:min(end, i+maxProbe)], "$") >= 3) {
				return end
			}
		}
	}
	return 0
}

// schemeHash is the end of the hash of a password as LDAP writes it ({SSHA}…), whose
// brace is at s[i]; 0 if there is none.
func schemeHash(s string, i int) int {
	const longest, least = 16, 20
	closing := strings.IndexByte(s[i:min(len(s), i+longest)], '}')
	if closing < 0 || !isOneOf(s[i+1:i+closing], "SSHA", "SSHA256", "SSHA512", "SHA", "SHA256", "SHA512", "SMD5", "MD5", "CRYPT", "PBKDF2-SHA256", "ARGON2", "BCRYPT", "BLF-CRYPT") {
		return 0
	}
	end := run(s, i+closing+1, hashed)
	if end-i-closing-1 < least {
		return 0
	}
	return end
}

// mysqlHash is the end of the hash of a password of MySQL, * and 40 hex digits
// in capitals, at s[i]; 0 if there is none.
func mysqlHash(s string, i int) int {
	const length = 40
	end := run(s, i+1, "")
	if end-i-1 != length || !consistsOf(s[i+1:end], decimal+"ABCDEF") {
		return 0
	}
	return end
}

var authSchemes = []string{"bearer ", "basic ", "bearer%20", "basic%20", "bearer+", "basic+"}

// bearer is the range of the credentials behind "Bearer" or "Basic" at s[i].
func bearer(s string, i int) (start, end int) {
	if s[i]|0x20 != 'b' {
		return -1, -1
	}
	k := slices.IndexFunc(authSchemes, func(scheme string) bool { return hasPrefixFold(s[i:], scheme) })
	if k < 0 {
		return -1, -1
	}
	start = i + len(authSchemes[k])
	for start < len(s) && s[start] == ' ' {
		start++
	}
	end = run(s, start, "._~+/=-")
	for end > start && s[end-1] == '.' {
		end--
	}
	if end-start < 6 || !looksRandom(s[start:end]) {
		return -1, -1
	}
	return start, end
}

// looksRandom says whether a text is made at random or encoded, and not a word: it has
// a digit, a sign that words do not have, or capitals between small letters.
func looksRandom(v string) bool {
	humps := 0
	for i := range len(v) {
		c := v[i]
		switch {
		case isAlpha(c) || c >= 0x80:
			if i > 0 && isUpper(c) && isAlpha(v[i-1]) && !isUpper(v[i-1]) {
				humps++
			}
		case strings.IndexByte("_-./\\:(", c) < 0:
			return true
		}
	}
	return humps*4 > len(v)
}

// pemEnd is the end of the PEM block at s[i], the end of the text if it was cut.
func pemEnd(s string, i int) int {
	const mark = "-----END"
	k := strings.Index(s[i:], mark)
	if k < 0 {
		return len(s)
	}
	end := i + k + len(mark)
	if k := strings.Index(s[end:], "-----"); k >= 0 && k < 64 {
		return end + k + len("-----")
	}
	return end
}

// puttyKey is the range of the private part of a key of PuTTY, whose header
// "Private-Lines" is at s[i]. It ends with the MAC, which is made with the key.
func puttyKey(s string, i int) (start, end int) {
	const header, mac = "Private-Lines:", "Private-MAC:"
	if !strings.HasPrefix(s[i:], header) {
		return -1, -1
	}
	line := strings.IndexByte(s[i:], '\n')
	if line < 0 {
		return -1, -1
	}
	start = i + line + 1
	end = run(s, start, "+/=\r\n")
	if strings.HasPrefix(s[end:], "-MAC:") && strings.HasSuffix(s[start:end], "Private") {
		end -= len("Private")
	}
	if strings.HasPrefix(s[end:], mac) {
		end = run(s, end+len(mac), " ")
	}
	if strings.TrimSpace(s[start:end]) == "" {
		return -1, -1
	}
	return start, end
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

func hasSuffixFold(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool {
		return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
	})
}
