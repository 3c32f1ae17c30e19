package scrub

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SecretKey says whether the value under a key is a secret, by the default list and
// the additions. Case, dashes, underscores, blanks, dots and camel humps of the key
// do not count. The default list is what Relay, the SDKs of Sentry, Rollbar,
// Bugsnag, Honeybadger and Flare, Rails, Laravel, Django and OpenTelemetry filter.
// Most terms count anywhere in the key. Terms that are part of ordinary words (otp,
// pin, ssn, sig) count as a word of the key only.
func (x *Scrubber) SecretKey(key string) bool {
	var buf [96]byte
	k := fold(buf[:0], key)
	return k.hasTerm() || k.hasWord() || k.isExact() || x.isOwn(&k)
}

// foldedKey is a key in lower case, of letters and digits only.
type foldedKey struct {
	text    []byte
	starts  [16]uint8 // where its words begin, as many as there is room for
	words   int
	foreign bool // it has letters of another script
}

// fold folds a key into buf. Letters lose their marks (contraseña, hasło). Letters
// of other scripts stay. What is no letter and no digit is dropped, as invisible
// characters that hide a key.
func fold(buf []byte, key string) (k foldedKey) {
	previous := byte(0)
	for i := 0; i < len(key); i++ {
		c := key[i]
		switch {
		case isAlnum(c):
		case c >= 0x80:
			r, size := utf8.DecodeRuneInString(key[i:])
			i += size - 1
			var letter rune
			if c, letter = plainLetter(r); letter != 0 {
				if previous == 0 {
					k.begin(len(buf))
				}
				previous, k.foreign = 'a', true
				buf = utf8.AppendRune(buf, letter)
			}
			if c == 0 {
				continue
			}
		default:
			previous = 0
			continue
		}
		hump := isUpper(c) && (!isUpper(previous) || i+1 < len(key) && isAlpha(key[i+1]) && !isUpper(key[i+1]))
		if previous == 0 || hump {
			k.begin(len(buf))
		}
		previous = c
		if isUpper(c) {
			c |= 0x20
		}
		buf = append(buf, c)
	}
	k.text = buf
	return k
}

// begin remembers that a word begins.
func (k *foldedKey) begin(at int) {
	if k.words < len(k.starts) && at <= math.MaxUint8 {
		k.starts[k.words] = uint8(at)
		k.words++
	}
}

// plainLetter is the Latin letter under the marks of r, or the small letter of
// another script; both are 0 for what is no letter.
func plainLetter(r rune) (latin byte, other rune) {
	switch {
	case r == '\u212a':
		return 'k', 0 // the Kelvin sign
	case r >= '\uff21' && r <= '\uff3a':
		return byte(r-'\uff21') + 'A', 0 // full width
	case r >= '\uff41' && r <= '\uff5a':
		return byte(r-'\uff41') + 'a', 0
	case r == utf8.RuneError || !unicode.IsLetter(r):
		return 0, 0
	}
	if base := marked[r]; base != 0 {
		return base, 0
	}
	if r < firstOther {
		return 0, 0
	}
	return 0, unicode.ToLower(r)
}

// firstOther is the first letter that is not Latin: Greek begins here.
const firstOther = 0x370

// marked are the Latin letters with marks that keys have, by rune.
var marked = func() map[rune]byte {
	const with = "áàâäãåāăąảạấầẩẫậắằẳẵặçćčĉċďđéèêëēĕėęěẻẽẹếềểễệĝğġģĥħíìîïĩīĭįıỉịĵķĺļľŀłñńņňóòôöõøōŏőỏọốồổỗộớờởỡợơŕŗřśŝşšșſţťŧțúùûüũūŭůűųủụứừửữựưŵýÿŷỳỷỹỵźżž"
	const base = "aaaaaaaaaaaaaaaaaaaaacccccddeeeeeeeeeeeeeeeeegggghhiiiiiiiiiiijklllllnnnnoooooooooooooooooooooorrrssssssttttuuuuuuuuuuuuuuuuuuwyyyyyyyzzz"
	letters := map[rune]byte{'İ': 'I'}
	i := 0
	for _, r := range with {
		letters[r] = base[i]
		if upper := unicode.ToUpper(r); upper >= 0x80 {
			letters[upper] = base[i] - 'a' + 'A'
		}
		i++
	}
	return letters
}()

// The default list, folded: defaultTerms count anywhere in a key, defaultWords as a
// word of it, defaultWhole as the whole key.
var (
	defaultTerms = []string{
		"password", "passw", "passphrase", "passcode", "privatekey", "phpsessid", "pwd",
		"secret", "session", "signature", "sentrysid", "setcookie", "sessid",
		"token", "twofactor", "auth", "apikey", "accesskey", "aiohttpsession",
		"credential", "cookie", "csrf", "crypt", "certificate", "connectsid", "creditcard", "cardnumber", "ccnumber",
		"xsrf", "xforwardedfor", "xrealip", "mysqlpwd", "verceljwt", "bearer", "email", "formvars", "remoteaddr", "ipaddress",
		"googsignature", "awsaccesskeyid", "encryptionkey", "socialsecurity",
		"mnemonic", "seedphrase", "seedwords", "recoveryphrase", "backupphrase", "recoverycode", "backupcode",
	}
	defaultWords = []string{"pass", "otp", "pin", "ssn", "cvv", "cvc", "cvv2", "sig", "salt", "sid", "jwt", "iban", "pw", "psk"}
	defaultWhole = []string{"key", "su", "sudo", "symfony"}

	// The names of passwords in other languages. passwordWords are part of ordinary
	// words and count as a word of a key only.
	passwordTerms = []string{
		"passwort", "kennwort", "geheimnis", "losungswort", // German
		"contrasen", "motdepasse", "palavrapasse", "wachtwoord", // Spanish and Catalan, French, Portuguese, Dutch
		"adgangskode", "losenord", "passord", "salasana", // Danish, Swedish, Norwegian, Finnish
		"jelszo", "lozinka", "slaptazod", "katasandi", "matkhau", // Hungarian, Croatian, Lithuanian, Indonesian, Vietnamese
		"пароль", "пароли", "гасло", "лозинк", "парола", // Russian, Ukrainian, Serbian, Bulgarian
		"密码", "密碼", "口令", "パスワード", "暗証番号", "비밀번호", "패스워드", "암호",
		"συνθηματικ", "κωδικός", "κωδικοσ", "κωδικόσ", "סיסמה", "סיסמא", "كلمةالمرور", "كلمةالسر", "पासवर्ड", "รหัสผ่าน",
	}
	passwordWords = []string{"clave", "senha", "haslo", "heslo", "geslo", "parola", "parole", "parool", "sifre", "mdp", "kodeord"}
)

// DefaultKeys is the default list of secret keys: those that count anywhere in a
// key, as a word of it, and as the whole key.
func DefaultKeys() (anywhere, words, whole []string) {
	return slices.Concat(defaultTerms, passwordTerms), slices.Concat(defaultWords, passwordWords), slices.Clone(defaultWhole)
}

// terms are the terms by their first two letters, and isTermStart has a bit for each
// such pair. foreignTerms are those of other scripts. wordTerms are the words by
// their length.
var terms, isTermStart, foreignTerms, wordTerms = func() (by [26][26][]string, starts [26]uint32, foreign []string, words [12][]string) {
	for _, term := range slices.Concat(defaultTerms, passwordTerms) {
		folded := fold(nil, term)
		text := string(folded.text)
		if folded.foreign {
			foreign = append(foreign, text)
			continue
		}
		first, second := text[0]-'a', text[1]-'a'
		by[first][second] = append(by[first][second], text)
		starts[first] |= 1 << second
	}
	for _, word := range slices.Concat(defaultWords, passwordWords) {
		words[len(word)] = append(words[len(word)], word)
	}
	return by, starts, foreign, words
}()

func isWordTerm(word string) bool {
	return len(word) < len(wordTerms) && slices.Contains(wordTerms[len(word)], word)
}

func (k *foldedKey) hasTerm() bool {
	for i := 0; i+1 < len(k.text); i++ {
		first, second := k.text[i]-'a', k.text[i+1]-'a'
		if first >= 26 || second >= 26 || isTermStart[first]&(1<<second) == 0 {
			continue
		}
		for _, term := range terms[first][second] {
			if len(k.text)-i >= len(term) && string(k.text[i:i+len(term)]) == term && !isOrdinary(term, k.text[i:]) {
				return true
			}
		}
	}
	return k.foreign && k.holds(foreignTerms)
}

// holds says whether one of the names stands anywhere in the key.
func (k *foldedKey) holds(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return bytes.Contains(k.text, []byte(name)) })
}

// endsWith says whether the key ends with one of the names.
func (k *foldedKey) endsWith(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return bytes.HasSuffix(k.text, []byte(name)) })
}

// isPassword says whether a key names nothing but a password: it ends with one
// of the English names, or holds one of the others.
func (k *foldedKey) isPassword() bool {
	if k.endsWith("password", "passwd", "passphrase", "pwd", "secret", "userpass", "dbpass", "psk") || k.holds(passwordNames) {
		return true
	}
	for i := range k.words {
		if slices.Contains(passwordWords, string(k.word(i))) {
			return true
		}
	}
	return false
}

// passwordNames are the passwordTerms, folded.
var passwordNames = func() (names []string) {
	for _, term := range passwordTerms {
		names = append(names, string(fold(nil, term).text))
	}
	return names
}()

// word is word i of the key.
func (k *foldedKey) word(i int) []byte {
	if i+1 < k.words {
		return k.text[k.starts[i]:k.starts[i+1]]
	}
	return k.text[k.starts[i]:]
}

// isOrdinary says whether a term is the beginning of an ordinary word: author,
// authority, secretary.
func isOrdinary(term string, rest []byte) bool {
	s := string(rest[:min(len(rest), len("authoriz"))])
	switch term {
	case "auth":
		return strings.HasPrefix(s, "author") && s != "authoriz" && s != "authoris"
	case "secret":
		return strings.HasPrefix(s, "secretar")
	}
	return false
}

// hasWord says whether a word of the key makes it secret.
func (k *foldedKey) hasWord() bool {
	for i := range k.words {
		word := string(k.word(i))
		if isWordTerm(word) || word == "key" && i > 0 && (i == k.words-1 || k.holdsValue(i+1)) && !k.isPlainKey(i) {
			return true
		}
	}
	return false
}

// holdsValue says whether word i, which stands behind "key", means the key itself
// (stripe_key_value), and not a fact about it (MissingKeyException).
func (k *foldedKey) holdsValue(i int) bool {
	switch string(k.word(i)) {
	case "value", "val", "data", "material", "content", "string", "text", "pem", "base64", "hex", "raw":
		return true
	}
	return false
}

// isPlainKey says whether word i-1 before "key" makes it a key of a database or a
// cache, which is no secret.
func (k *foldedKey) isPlainKey(i int) bool {
	switch string(k.word(i - 1)) {
	case "primary", "foreign", "unique", "sort", "partition", "cache", "routing", "public", "index", "message", "translation", "lookup", "duplicate":
		return true
	}
	return false
}

// maxPass bounds the length of a key that ends in pass: dbpass, userpass.
const maxPass = 12

// isExact says whether the whole key makes it secret.
func (k *foldedKey) isExact() bool {
	return slices.Contains(defaultWhole, string(k.text)) ||
		len(k.text) <= maxPass && k.endsWith("pass") && !k.endsWith("bypass", "compass")
}
