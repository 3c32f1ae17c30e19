package scrub

import "strings"

// This file finds secrets behind the word that names them, without an operator
// between them: token 'x1Y2z3…' is not valid, ENV API_KEY x1Y2z3….

// leastBeside is the least length of such a secret, leastHexBeside that of one of
// hex digits: shorter ones are ids.
const (
	leastBeside    = 8
	leastHexBeside = 32
)

// beside remembers the word at s[i] as a secret if it is random and the word before
// it names a secret.
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
	if stop < len(s) && (s[stop] == '(' || s[stop] == '=' || s[stop] == '[') && opener == ' ' || !isRandomBeside(s[i:stop]) {
		return
	}
	sc.later(i, stop)
}

// namesSecret says whether the word that begins at start names a secret.
func (sc *scan) namesSecret(word string, start int) bool {
	var buf [96]byte
	k := fold(buf[:0], word)
	switch string(k.text) {
	case "key":
		before, _ := keyBefore(sc.s, max(0, start-1))
		return isSecretPair(before, "key")
	case "token":
		before, _ := keyBefore(sc.s, max(0, start-1))
		return !hasSuffixFold(before, "expected")
	}
	return k.endsWith("token", "apikey", "accesskey", "secretkey", "password", "passwd", "passphrase", "secret", "privatekey") || k.isPassword()
}

// isRandomBeside says whether a value is surely random: digits stand between
// its letters, or it has very many hex digits.
func isRandomBeside(value string) bool {
	if strings.ContainsAny(value, "/\\") {
		return false // a path
	}
	if consistsOf(value, hexadecimal) {
		return len(value) >= leastHexBeside
	}
	changes := 0
	for i := 1; i < len(value); i++ {
		if isDigit(value[i]) != isDigit(value[i-1]) {
			changes++
		}
	}
	return len(value) >= leastBeside && changes >= 2 && (isMixed(value) || len(value) >= 2*leastBeside)
}
