package scrub

import "strings"

// maxWord bounds a word of a sentence; what is longer is a value. It also keeps
// the work linear: what is judged and left is read again from the next colon.
const maxWord = 128

// isProseSecret says whether what stands behind "key: " or "key = " is a value
// and not the rest of a sentence: "invalid token: unexpected end" is clean,
// "password: hunter2" is not.
func (x *Scrubber) isProseSecret(s, key string, start, end int) bool {
	value := s[start:end]
	if len(value) > maxWord {
		return true
	}
	if isPositions(value) {
		return false
	}
	if start > 0 && strings.IndexByte("\"'`", s[start-1]) >= 0 {
		return len(value) >= 3
	}
	if looksDrawn(value) {
		return len(value) >= 3
	}
	// Plain words: only behind the keys that name nothing but a password, those
	// of the operator included, and
	// only where the sentence ends with it.
	if !isPasswordKey(key) && !x.isOwnKey(key) || isSentenceWord(value) {
		return false
	}
	rest := s[end:]
	return rest == "" || strings.IndexByte(" :.", rest[0]) < 0 || strings.TrimLeft(rest, " .") == ""
}

// isPositions says whether a value is a short number, or lines and columns as
// in "auth.go:42:7".
func isPositions(value string) bool {
	short := len(value) < 4
	for i := range len(value) {
		if value[i] == ':' {
			short = true
		} else if !isDigit(value[i]) {
			return false
		}
	}
	return short
}

func isPasswordKey(key string) bool {
	for _, name := range [...]string{"password", "passwd", "passphrase", "passwort", "pwd", "secret"} {
		if hasSuffixFold(key, name) {
			return true
		}
	}
	return false
}

// isSentenceWord knows what messages say about passwords and secrets.
func isSentenceWord(value string) bool {
	switch strings.ToLower(strings.TrimRight(value, ".!?")) {
	case "yes", "no", "expired", "invalid", "missing", "required", "empty", "none", "null", "nil", "denied", "failed", "mismatch", "incorrect",
		"unknown", "wrong", "unauthorized", "forbidden", "malformed", "revoked", "timeout", "error", "eof", "unset", "rejected", "disabled", "enabled",
		"weak", "short", "long", "too", "not", "must", "is", "the", "string", "object", "array", "undefined":
		return true
	}
	return false
}

// isCount says whether a short number behind a key counts or measures what the
// key names: max_tokens=4096, session_timeout=30.
func isCount(key, value string) bool {
	if len(value) > 12 || strings.Trim(value, "0123456789") != "" {
		return false
	}
	for _, suffix := range [...]string{"tokens", "sessions", "cookies", "count", "size", "length", "limit", "ttl", "timeout", "age", "lifetime", "version"} {
		if hasSuffixFold(key, suffix) {
			return true
		}
	}
	return false
}
