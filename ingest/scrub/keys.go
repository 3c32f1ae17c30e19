package scrub

import (
	"bytes"
	"slices"
	"strings"
)

// SecretKey says whether the value under a key is a secret. The key is read
// without regard to case, dashes, underscores, blanks, dots and camel humps;
// the default list is what Relay, the SDKs of Sentry, Rollbar, Bugsnag,
// Honeybadger and Flare, Rails, Laravel, Django and OpenTelemetry filter.
// Most terms count wherever they stand in the key; those that are part of
// ordinary words (otp, pin, ssn, sig, su) count as a word of the key only.
func SecretKey(key string) bool { return standard.SecretKey(key) }

// SecretKey is [SecretKey] with the additions of x.
func (x *Scrubber) SecretKey(key string) bool {
	var buf [96]byte
	k := fold(buf[:0], key)
	return k.hasTerm() || k.hasWord() || k.isExact() || x.isOwn(k)
}

// foldedKey is a key in lower case with letters and digits only, and where its
// words begin.
type foldedKey struct {
	text   []byte
	starts [16]int // the first words'
	words  int
}

// fold folds a key into buf.
func fold(buf []byte, key string) (k foldedKey) {
	previous := byte(0)
	for i := 0; i < len(key); i++ {
		c := key[i]
		switch {
		case isAlnum(c):
		case strings.HasPrefix(key[i:], "\u212a"): // the Kelvin sign, k in every case mapping
			c, i = 'k', i+2
		case strings.HasPrefix(key[i:], "\u017f"): // the long s
			c, i = 's', i+1
		case c >= 0x80:
			continue // zero width and other disguises
		default:
			previous = 0
			continue
		}
		hump := isUpper(c) && (!isUpper(previous) || i+1 < len(key) && isAlpha(key[i+1]) && !isUpper(key[i+1]))
		if (previous == 0 || hump) && k.words < len(k.starts) {
			k.starts[k.words] = len(buf)
			k.words++
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

// The default list, folded: terms count wherever they stand in a key, words as
// a word of it, whole ones as all of it.
var (
	defaultTerms = []string{
		"password", "passw", "passphrase", "passcode", "privatekey", "phpsessid", "pwd",
		"secret", "session", "signature", "sentrysid", "setcookie", "sessid",
		"token", "twofactor", "auth", "apikey", "accesskey", "aiohttpsession",
		"credential", "cookie", "csrf", "crypt", "certificate", "connectsid", "creditcard", "cardnumber", "ccnumber",
		"xsrf", "xforwardedfor", "xrealip", "mysqlpwd", "verceljwt", "bearer", "email", "formvars", "remoteaddr", "ipaddress",
		"googsignature", "awsaccesskeyid", "encryptionkey", "socialsecurity",
	}
	defaultWords = []string{"pass", "otp", "pin", "ssn", "cvv", "cvc", "cvv2", "sig", "salt", "sid", "jwt", "iban", "pw"}
	defaultWhole = []string{"key", "su", "sudo", "symfony"}
)

// DefaultKeys is the default list of secret keys: those that count wherever
// they stand in a key, those that count as a word of it, and those that count
// as the whole key.
func DefaultKeys() (anywhere, words, whole []string) {
	return slices.Clone(defaultTerms), slices.Clone(defaultWords), slices.Clone(defaultWhole)
}

// terms are the default terms by their first letter.
var terms = func() (t [26][]string) {
	for _, term := range defaultTerms {
		c := term[0] - 'a'
		t[c] = append(t[c], term)
	}
	return t
}()

func (k foldedKey) hasTerm() bool {
	for i, c := range k.text {
		if c < 'a' {
			continue
		}
		for _, term := range terms[c-'a'] {
			if len(k.text)-i >= len(term) && string(k.text[i:i+len(term)]) == term && !isOrdinary(term, k.text[i:]) {
				return true
			}
		}
	}
	return false
}

// isOrdinary says whether a term is only the beginning of an ordinary word:
// author, authority, secretary.
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

// hasWord looks for terms that count as a whole word of the key.
func (k foldedKey) hasWord() bool {
	for i := range k.words {
		end := len(k.text)
		if i+1 < k.words {
			end = k.starts[i+1]
		}
		word := string(k.text[k.starts[i]:end])
		if slices.Contains(defaultWords, word) || word == "key" && i > 0 && (i == k.words-1 || k.holdsValue(i+1)) && !k.isPlainKey(i) {
			return true
		}
	}
	return false
}

// holdsValue says whether word i behind "key" says that the key itself follows
// (stripe_key_value), and not something about it (MissingKeyException).
func (k foldedKey) holdsValue(i int) bool {
	end := len(k.text)
	if i+1 < k.words {
		end = k.starts[i+1]
	}
	switch string(k.text[k.starts[i]:end]) {
	case "value", "val", "data", "material", "content", "string", "text", "pem", "base64", "hex", "raw":
		return true
	}
	return false
}

// isPlainKey says whether "key" behind word i-1 names a thing of a database or
// a cache that is no secret.
func (k foldedKey) isPlainKey(i int) bool {
	switch string(k.text[k.starts[i-1]:k.starts[i]]) {
	case "primary", "foreign", "unique", "sort", "partition", "cache", "routing", "public", "index", "message", "translation", "lookup", "duplicate":
		return true
	}
	return false
}

// maxPass bounds a key in one word that ends in pass: dbpass, userpass.
const maxPass = 12

// isExact looks for terms that are secret only as the whole key.
func (k foldedKey) isExact() bool {
	if slices.Contains(defaultWhole, string(k.text)) {
		return true
	}
	ends := func(s string) bool { return bytes.HasSuffix(k.text, []byte(s)) }
	return ends("pass") && len(k.text) <= maxPass && !ends("bypass") && !ends("compass")
}
