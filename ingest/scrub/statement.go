package scrub

import (
	"bytes"
	"strings"
)

// This file finds secrets in SQL statements and in calls of stack traces. The word
// that names the secret stands some way before it there.

// keywordNames are the words that rules begin with, besides the programs in
// command.go. They are found in small letters, in capitals, and with the first
// letter a capital.
var keywordNames = [...]string{"values", "identified", "password", "passwort", "kennwort", "passphrase", "login", "docker", "htpasswd", "is", "was"}

// maxKeyword bounds the length of such a word.
const maxKeyword = 16

// keyword applies the rule of the word that begins at s[i], if it has one.
func (sc *scan) keyword(i int) {
	var small [maxKeyword]byte
	n := 0
	for i+n < len(sc.s) && (isAlnum(sc.s[i+n]) || sc.s[i+n] == '-') {
		if n == maxKeyword {
			return
		}
		small[n] = sc.s[i+n]
		if isUpper(small[n]) {
			small[n] |= 0x20
		}
		n++
	}
	switch string(small[:n]) {
	case "values":
		sc.insertValues(i, i+n)
	case "identified":
		sc.identifiedBy(i, i+n)
	case "password", "passwort", "kennwort", "passphrase":
		sc.quotedPassword(i, i+n)
	case "is", "was":
		sc.sentence(i, i+n)
	case "login":
		sc.netrc(i + n)
	case "docker":
		sc.dockerLogin(i + n)
	case "htpasswd":
		sc.htpasswd(i + n)
	default:
		if known := options[string(small[:n])]; known != nil {
			sc.command(i+n, known)
		}
	}
}

// The limits of a statement: the bytes of its list of columns, the bytes of its
// values, and how many of them are looked at.
const (
	maxColumns = 2 << 10
	maxValues  = 8 << 10
	maxListed  = 64
)

// insertValues remembers the values of secret columns behind the VALUES from
// s[i] to s[end].
func (sc *scan) insertValues(i, end int) {
	s := sc.s
	if i < sc.valuesRead {
		return
	}
	closing := i
	for closing > 0 && i-closing < maxBlanks && s[closing-1] <= ' ' {
		closing--
	}
	if closing == 0 || s[closing-1] != ')' {
		return
	}
	from := max(0, closing-maxColumns)
	open := strings.LastIndexByte(s[from:closing], '(')
	if open < 0 {
		return
	}
	secret, n := [maxListed]bool{}, 0
	any := false
	for column := range strings.SplitSeq(s[from+open+1:closing-1], ",") {
		column = column[strings.LastIndexByte(column, '.')+1:]
		if n < maxListed {
			secret[n] = sc.x.SecretKey(strings.Trim(column, " \t\r\n`\"'[]"))
			any = any || secret[n]
			n++
		}
	}
	if !any {
		return
	}
	limit := min(len(s), end+maxValues)
	for k := end; ; k++ {
		for k < limit && (s[k] <= ' ' || s[k] == ',') {
			k++
		}
		if k >= limit || s[k] != '(' {
			return
		}
		k = sc.arguments(k, limit, func(index, start, end int) {
			if index < maxListed && secret[index] {
				sc.argument(start, end)
			}
		})
		sc.valuesRead = k
	}
}

// arguments calls f with each part of the list in brackets at s[i], and returns
// the place of its closing bracket, at most limit.
func (sc *scan) arguments(i, limit int, f func(index, start, end int)) int {
	s := sc.s
	depth, index, start := 0, 0, i+1
	for k := i; k < limit; k++ {
		switch s[k] {
		case '\'', '"':
			k = quoteEnd(s[:limit], k+1, s[k:k+1])
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				f(index, start, k)
				return k
			}
		case ',':
			if depth == 1 {
				f(index, start, k)
				index, start = index+1, k+1
			}
		}
	}
	if start < limit {
		f(index, start, limit)
	}
	return limit
}

// argument remembers an argument that is a text in quotes or a number. Names
// and placeholders (?, $1, :name, %s) stay.
func (sc *scan) argument(start, end int) {
	s := sc.s
	for start < end && s[start] <= ' ' {
		start++
	}
	for end > start && s[end-1] <= ' ' {
		end--
	}
	if typed := typedValue(s, start); typed < end {
		start = typed
	}
	if start == end {
		return
	}
	if quote := s[start]; quote == '\'' || quote == '"' {
		closing := end
		if end-start > 1 && s[end-1] == quote {
			closing = end - 1
		}
		sc.later(start+1, closing)
		return
	}
	if isDigit(s[start]) && end-start > 3 || strings.IndexByte(s[start:end], '(') > 0 && looksRandom(s[start:end]) {
		sc.later(start, end)
	}
}

// skipWord is the end of the word behind the blanks at s[i]; i if another word
// follows.
func skipWord(s string, i int, word string) int {
	k := i
	for k < len(s) && s[k] <= ' ' {
		k++
	}
	if k == i || !hasPrefixFold(s[k:], word) || k+len(word) < len(s) && isAlnum(s[k+len(word)]) {
		return i
	}
	return k + len(word)
}

// identifiedBy remembers the password behind IDENTIFIED BY in a statement about
// users. Sentences have "identified by", too.
func (sc *scan) identifiedBy(i, end int) {
	const context = 160
	s := sc.s
	before := strings.ToLower(s[max(0, i-context):i])
	if !strings.Contains(before, "create ") && !strings.Contains(before, "alter ") && !strings.Contains(before, "grant ") {
		return
	}
	k := end
	if with := skipWord(s, k, "with"); with > k {
		k = run(s, skipBlanks(s, with), "_'\"")
	}
	by := max(skipWord(s, k, "by"), skipWord(s, k, "as"))
	if by == k {
		return
	}
	by = skipWord(s, skipWord(s, by, "password"), "values")
	start, stop := valueRange(s, skipBlanks(s, by))
	sc.later(start, stop)
	if replace := skipWord(s, stop, "replace"); replace > stop {
		start, stop = valueRange(s, skipBlanks(s, replace))
		sc.later(start, stop)
	}
}

// quotedPassword remembers the text in quotes behind the word password from s[i] to
// s[end]: WITH PASSWORD 'x'.
func (sc *scan) quotedPassword(i, end int) {
	const least = 6
	s := sc.s
	k := skipBlanks(s, end)
	if k == end {
		return
	}
	k = typedValue(s, k)
	if k < len(s) && (s[k] == '\'' || s[k] == '"') {
		start, stop := valueRange(s, k)
		if isUpper(s[i+1]) || stop-start >= least && looksRandom(s[start:stop]) {
			sc.later(start, stop)
		}
	}
}

// sentence remembers the secret in "the password is x1y2z3". The verb stands from
// s[i] to s[end].
func (sc *scan) sentence(i, end int) {
	const least = 6
	s := sc.s
	k := skipBlanks(s, end)
	word := run(s[:min(len(s), k+maxWord)], k, "_-!.+/'\"")
	if word-k < least || k == end || !strings.ContainsAny(s[k:word], decimal) {
		return // nearly always
	}
	start, stop := valueRange(s, k)
	if stop-start < least || !looksRandom(s[start:stop]) || consistsOf(s[start:stop], decimal+".,-/") {
		return
	}
	if key, _ := keyBefore(s, i); key != "" && sc.x.isSecretInText(s, i, key) {
		sc.later(start, stop)
	}
}

// netrc remembers the password in a line of .netrc: login bob password x.
func (sc *scan) netrc(end int) {
	s := sc.s
	user := skipBlanks(s, end)
	if user == end {
		return
	}
	for user < len(s) && s[user] > ' ' {
		user++
	}
	k := skipWord(s, user, "password")
	if k == user || k == len(s) || s[k] != ' ' {
		return
	}
	start, stop := valueRange(s, skipBlanks(s, k))
	if looksRandom(s[start:stop]) {
		sc.later(start, stop)
	}
}

// maxCall bounds the bytes of the arguments of a call.
const maxCall = 1 << 10

// secretArguments is the index of the argument that is a password, counted from 0,
// by the name of the function in small letters.
var secretArguments = map[string]int{
	"pdo->__construct": 2, "pdo": 2, "mysqli->__construct": 2, "mysqli": 2, "mysqli_connect": 2, "mysqli_real_connect": 3, "mysql_connect": 2,
	"ldap_bind": 2, "ftp_login": 2, "ssh2_auth_password": 2, "imap_open": 2, "oci_connect": 1, "odbc_connect": 2,
	"password_hash": 0, "bcrypthasher->make": 0, "password_verify": 0, "crypt": 0, "redis->auth": 0, "hash_hmac": 2, "openssl_encrypt": 2, "openssl_decrypt": 2,
	"setpassword": 0, "set_password": 0, "checkpassword": 0, "check_password": 0, "checkpw": 0, "hashpw": 0, "login": 1, "signin": 1, "authenticate": 1,
	"old_password": 0, "password": 0, "aes_encrypt": 1, "aes_decrypt": 1, "pgp_sym_encrypt": 1, "pgp_sym_decrypt": 1, "des_encrypt": 1,
}

// call remembers the secret argument of the call whose bracket is at s[i].
func (sc *scan) call(i int) {
	s := sc.s
	const longest = len("mysqli->__construct")
	if i == 0 || i+1 >= len(s) || !isAlnum(s[i-1]) {
		return
	}
	var small [longest]byte
	start := i
	for start > 0 && i-start < longest && (isAlnum(s[start-1]) || s[start-1] == '_' || s[start-1] == '>' || s[start-1] == '-') {
		start--
		small[longest-(i-start)] = s[start]
		if isUpper(s[start]) {
			small[longest-(i-start)] |= 0x20
		}
	}
	name := small[longest-(i-start):]
	index, known := secretArguments[string(name)]
	if !known {
		method := bytes.LastIndexByte(name, '>') + 1
		if index, known = secretArguments[string(name[method:])]; !known || method == 0 {
			return
		}
	}
	sc.arguments(i, min(len(s), i+maxCall), func(k, start, end int) {
		text := strings.TrimSpace(s[start:end])
		if k == index && text != "" && (quoteAt(text, 0) > 0 || typedValue(text, 0) > 0) {
			sc.argument(start, end)
		}
	})
}
