package scrub

import "strings"

// maxWord bounds the length of a word of a sentence; what is longer is a value. It
// also keeps the work linear: a value that is left may be read again, from each
// colon in it.
const maxWord = 128

// isProseSecret says whether s[start:end] behind "key: " or "key = " is a value
// and not the rest of a sentence: "password: hunter2" has a secret, "invalid token:
// unexpected end" has none.
func (x *Scrubber) isProseSecret(s, key string, start, end int) bool {
	value := s[start:end]
	if len(value) > maxWord {
		return true
	}
	if isPositions(value) {
		return false
	}
	if start > 0 && strings.IndexByte("\"'`", s[start-1]) >= 0 || looksRandom(value) {
		return len(value) >= 3
	}
	// A plain word is a secret only behind a key that names nothing but a password
	// or that the operator added, and only at the end of the sentence.
	if !isPasswordKey(key) && !x.isOwnKey(key) || isSentenceWord(value) {
		return false
	}
	if start > 0 && s[start-1] == ':' && isMember(s, end) {
		return true
	}
	rest := s[end:]
	if next := skipBlanks(s, end); next < len(s) && strings.IndexByte(";,)}", s[next]) >= 0 {
		return true
	}
	return rest == "" || strings.IndexByte(" :.", rest[0]) < 0 || strings.TrimLeft(rest, " .") == ""
}

// isErrorList says whether a value is a list of errors that a form shows for its
// field: ["This password is too common."].
func isErrorList(value string) bool {
	if strings.HasPrefix(value, "[ErrorDetail(") {
		return true
	}
	if len(value) < 3 || value[0] != '[' || quoteAt(value, 1) == 0 {
		return false
	}
	start, end := valueRange(value, 1)
	text := value[start:end]
	const leastBlanks = 2
	return len(text) < maxWord && strings.Count(text, " ") >= leastBlanks && isUpper(text[0]) && !strings.ContainsAny(text, "0123456789=:")
}

// isMember says whether the word behind the blank at s[i] is the next field of a
// struct as Go prints it: {User:bob Password:walrus Age:7}.
func isMember(s string, i int) bool {
	if i+1 >= len(s) || s[i] != ' ' {
		return false
	}
	name := run(s[:min(len(s), i+maxKey)], i+1, "_")
	return name > i+1 && name+1 < len(s) && s[name] == ':' && s[name+1] > ' '
}

// isPositions says whether a value is a short number, or lines and columns as
// in "auth.go:42:7".
func isPositions(value string) bool {
	return consistsOf(value, decimal+":") && (len(value) < 4 || strings.Contains(value, ":"))
}

func isPasswordKey(key string) bool {
	var buf [96]byte
	k := fold(buf[:0], key)
	return k.isPassword()
}

// isPhraseKey says whether a key names a secret of several plain words.
func isPhraseKey(key string) bool {
	return hasSuffixFold(key, "passphrase", "mnemonic", "phrase", "words")
}

// isSentenceWord says whether a word is one that messages use about secrets.
func isSentenceWord(value string) bool {
	return sentenceWords[strings.ToLower(strings.TrimRight(value, ".!?"))]
}

var sentenceWords = setOf(`yes no expired invalid missing required empty none null nil denied failed mismatch incorrect
	unknown wrong unauthorized forbidden malformed revoked timeout error eof unset rejected disabled enabled
	weak short long too not must is the string object array undefined
	falsch ungültig fehlt erforderlich abgelaufen leer incorrecta incorrecto inválida inválido requerida obligatoria obligatorio caducada
	incorrect requis requise obligatoire invalide expiré manquant incorreta incorreto obrigatória nieprawidłowe wymagane onjuist verplicht ongeldig
	неверный неверно обязательно истек 错误 不正确 无效 必填 必須 無効 오류 필수 fel krävs errata obbligatoria geçersiz gerekli zorunlu povinné neplatné`)

// restWords are words of a sentence that goes on behind a password without quotes.
var restWords = setOf(`a an and or but the for of from in on at to by with without as is was are were be been has have had does did do not no never
	failed fails fail refused rejected denied expired invalid wrong must should cannot can could will would may because when while after before
	until since than then this that these those it its page line user host port which who und oder für von mit ist war nicht que para con por de en no et
	ou est pour avec ok contains contain expected got returned given used`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// phraseEnd is the end of a password of several words without quotes. Its first word
// is s[start:end]. It is 0 if there is one word only, or a sentence goes on behind
// it. Behind a colon, and not "=", the first word must be random or the key must name
// a phrase.
func phraseEnd(s string, start, end int, key string, equals bool) int {
	if end >= len(s) || s[end] != ' ' && s[end] != '\t' {
		return 0
	}
	phrase := isPhraseKey(key)
	if !phrase && !isPasswordKey(key) {
		return 0
	}
	rest, words := restEnd(s, end)
	const leastOfPhrase = 3 // behind the first
	switch first := s[start:end]; {
	case words == 0 || isSentenceWord(first) || restWords[strings.ToLower(first)]:
		return 0
	case equals || looksRandom(first) && len(first) > 3 || phrase && words >= leastOfPhrase:
		return rest
	}
	return 0
}

// maxPhrase is the greatest number of words of a secret: that of a seed phrase.
const maxPhrase = 24

// restEnd is the end of the words behind s[i], up to the end of the line or a
// delimiter, and their number. Both are 0 if one of the words belongs to a sentence.
func restEnd(s string, i int) (end, words int) {
	const delimiters = ",;\"'`)}]<>|&"
	for k := i; words < maxPhrase; words++ {
		word := skipBlanks(s, k)
		if word == len(s) || strings.IndexByte("\r\n"+delimiters, s[word]) >= 0 {
			return k, words
		}
		if word == k || strings.IndexByte("-/([{", s[word]) >= 0 {
			return 0, 0
		}
		for k = word; k < len(s) && s[k] > ' ' && strings.IndexByte(delimiters, s[k]) < 0; k++ {
			if k-word > maxWord || s[k] == '=' || s[k] == ':' {
				return 0, 0
			}
		}
		if restWords[strings.ToLower(s[word:k])] {
			return 0, 0
		}
	}
	return 0, 0
}

// isCount says whether the value behind a key is a count or a measure: max_tokens=4096,
// session_timeout=30.
func isCount(key, value string) bool {
	return len(value) <= 12 && consistsOf(value, decimal) &&
		hasSuffixFold(key, "tokens", "sessions", "cookies", "count", "size", "length", "limit", "ttl", "timeout", "age", "lifetime", "version")
}
