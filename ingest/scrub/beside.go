package scrub

import "strings"

// This file finds secrets that stand beside the word that names them, without
// an operator: token 'x1Y2z3…' is not valid, ENV API_KEY x1Y2z3….

// leastBeside is how long a word must be that is looked at, leastHexBeside one
// of hex digits: short ones are ids.
const (
	leastBeside    = 8
	leastHexBeside = 32
)

// beside remembers the drawn value that begins at s[i] if the word before it
// names a secret.
func (sc *scan) beside(i int) {
	s := sc.s
	k := i
	for k > 0 && i-k < 4 && strings.IndexByte(" \t\"'`([", s[k-1]) >= 0 {
		k--
	}
	if k == i || k == 0 || s[k] != ' ' && s[k] != '\t' {
		return
	}
	start, end, _ := keyRange(s, k)
	word := s[start:end]
	if isOneOf(word, "like", "in", "provided", "is", "was") && start > 0 {
		start, end, _ = keyRange(s, start)
		word = s[start:end]
	}
	if word == "" || !sc.namesSecret(word, start) {
		return
	}
	opener := s[i-1]
	stop := i
	for stop < len(s) && s[stop] > ' ' && strings.IndexByte("\"'`()[]{}<>,;|&=", s[stop]) < 0 {
		stop++
	}
	for stop > i && strings.IndexByte(".:!?", s[stop-1]) >= 0 {
		stop--
	}
	if stop < len(s) && (s[stop] == '(' || s[stop] == '=' || s[stop] == '[') && opener == ' ' || !isDrawnBeside(s[i:stop]) {
		return
	}
	sc.later(i, stop)
}

// namesSecret says whether a word that ends a part of a sentence names a secret
// that is drawn, and not a thing that has a number.
func (sc *scan) namesSecret(word string, start int) bool {
	var buf [96]byte
	k := fold(buf[:0], word)
	if string(k.text) == "key" {
		before, _ := keyBefore(sc.s, max(0, start-1))
		return isSecretPair(before, "key")
	}
	if string(k.text) == "token" {
		before, _ := keyBefore(sc.s, max(0, start-1))
		return !hasSuffixFold(before, "expected")
	}
	for _, term := range [...]string{"token", "apikey", "accesskey", "secretkey", "password", "passwd", "passphrase", "secret", "privatekey"} {
		if strings.HasSuffix(string(k.text), term) {
			return true
		}
	}
	return k.isPassword()
}

// isDrawnBeside says whether a value is drawn beyond doubt: letters of both
// kinds and a digit strewn over it, or very many hex digits.
func isDrawnBeside(value string) bool {
	hex := true
	changes := 0
	for i := range len(value) {
		c := value[i]
		if strings.IndexByte("/\\", c) >= 0 {
			return false // a path
		}
		hex = hex && isHex(c)
		if i > 0 && isDigit(c) != isDigit(value[i-1]) {
			changes++
		}
	}
	if hex {
		return len(value) >= leastHexBeside
	}
	return len(value) >= leastBeside && changes >= 2 && (isMixed(value) || len(value) >= 2*leastBeside)
}
