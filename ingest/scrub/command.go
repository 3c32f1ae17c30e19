package scrub

import (
	"slices"
	"strings"
)

// This file finds secrets in command lines and in files of passwords.

// option is an option of a program whose value is a password.
type option struct {
	name   string
	glued  bool // the value may follow without a blank
	behind byte // the password begins behind this byte of the value; 0: all of it
	blank  bool // the value may follow a blank or =
}

// options are the options with passwords, by the program. An option with a secret
// name (--password) is known without its program.
var options = func() map[string][]option {
	of := map[string][]option{}
	for programs, list := range map[string][]option{
		"curl":     {{"-u", true, ':', true}, {"--user", false, ':', true}, {"-U", true, ':', true}, {"--proxy-user", false, ':', true}},
		"http":     {{"-a", false, ':', true}, {"--auth", false, ':', true}},
		"sshpass":  {{"-p", true, 0, true}},
		"keytool":  {{"-storepass", false, 0, true}, {"-keypass", false, 0, true}},
		"snmpwalk": {{"-A", false, 0, true}, {"-X", false, 0, true}},

		"redis-cli":             {{"-a", false, 0, true}},
		"smbclient":             {{"-U", true, '%', true}},
		"sqlcmd bcp":            {{"-P", true, 0, true}},
		"unzip zip ipmitool":    {{"-P", false, 0, true}},
		"ldapsearch ldapmodify": {{"-w", true, 0, true}},

		"mysql mysqldump mysqladmin mariadb 7z":        {{"-p", true, 0, false}},
		"mongosh mongo mongodump cqlsh az podman helm": {{"-p", false, 0, true}},
	} {
		for program := range strings.FieldsSeq(programs) {
			of[program] = slices.Clone(list) // scan.program tells programs apart by it
		}
	}
	return of
}()

var loginOptions = []option{{"-p", false, 0, true}}

// maxCommand bounds a command line.
const maxCommand = 400

// command remembers the passwords among the known options of the program whose name
// ends at s[i].
func (sc *scan) command(i int, known []option) {
	s := sc.s
	if i == len(s) || s[i] != ' ' || i < sc.commandRead && sc.program == &known[0] {
		return
	}
	limit := min(len(s), i+maxCommand)
	if line := strings.IndexAny(s[i:limit], "\n\r"); line >= 0 {
		limit = i + line
	}
	sc.commandRead, sc.program = limit, &known[0]
	for k := i; k < limit; {
		for k < limit && s[k] == ' ' {
			k++
		}
		for _, o := range known {
			if start := o.value(s[:limit], k); start > 0 {
				sc.optionValue(start, limit, o.behind)
			}
		}
		for k < limit && s[k] != ' ' {
			if quote := s[k]; (quote == '\'' || quote == '"') && s[k-1] == ' ' {
				k = quoteEnd(s[:limit], k+1, s[k:k+1])
			}
			k++
		}
	}
}

// value is the beginning of the value of the option at s[i], 0 if it is another
// option or has no value.
func (o *option) value(s string, i int) int {
	if !strings.HasPrefix(s[i:], o.name) {
		return 0
	}
	k := i + len(o.name)
	switch {
	case k >= len(s):
		return 0
	case (s[k] == ' ' || s[k] == '=') && o.blank:
		return k + 1
	case s[k] != ' ' && s[k] != '=' && o.glued:
		return k
	}
	return 0
}

// optionValue remembers the value at s[i], or its part behind the byte.
func (sc *scan) optionValue(i, limit int, behind byte) {
	s := sc.s
	if i >= limit || s[i] == '-' {
		return
	}
	start, end := i, i
	if quote := s[i]; quote == '\'' || quote == '"' {
		start = i + 1
		end = quoteEnd(s[:limit], start, s[i:i+1])
	} else {
		for end < limit && s[end] > ' ' && strings.IndexByte("\"'`;|)", s[end]) < 0 {
			end++
		}
	}
	if behind != 0 {
		k := strings.IndexByte(s[start:end], behind)
		if k < 0 {
			return
		}
		start += k + 1
	}
	sc.later(start, end)
}

// dockerLogin remembers the password of "docker login" behind s[i]. In other
// commands of docker -p is a port.
func (sc *scan) dockerLogin(i int) {
	if k := skipWord(sc.s, i, "login"); k > i {
		sc.command(k, loginOptions)
	}
}

// htpasswd remembers the last of the three arguments of "htpasswd -b file user
// password" behind s[i].
func (sc *scan) htpasswd(i int) {
	s := sc.s
	line := s[i:min(len(s), i+maxCommand)]
	if end := strings.IndexAny(line, "\n\r"); end >= 0 {
		line = line[:end]
	}
	batch, arguments, at := false, 0, 0
	for word := range strings.SplitSeq(line, " ") {
		switch {
		case strings.HasPrefix(word, "-"):
			batch = batch || strings.IndexByte(word, 'b') > 0
		case word != "":
			if arguments++; batch && arguments == 3 {
				sc.later(i+at, i+at+len(word))
			}
		}
		at += len(word) + 1
	}
}

// pgpass is the range of the password in a line of .pgpass. The colon before the
// port is at s[i]: host:port:database:user:password.
func pgpass(s string, i int) (start, end int) {
	field := func(from int, more string) int {
		k := run(s, from, more)
		if k == from || k >= len(s) || s[k] != ':' {
			return -1
		}
		return k
	}
	host := back(s, i, maxKey, func(c byte) bool { return isAlnum(c) || strings.IndexByte(".-*_", c) >= 0 })
	if host == i || host > 0 && strings.IndexByte(" \t\n\"'", s[host-1]) < 0 {
		return -1, -1
	}
	port := field(i+1, "*")
	if port < 0 || s[i+1] != '*' && (port-i-1 < 4 || !isPort(s[i+1:port])) || s[i+1] == '*' && port != i+2 {
		return -1, -1
	}
	database := field(port+1, "*_-")
	if database < 0 {
		return -1, -1
	}
	user := field(database+1, "*_-.@")
	if user < 0 {
		return -1, -1
	}
	end = user + 1
	for end < len(s) && s[end] > ' ' && s[end] != '"' && s[end] != '\'' {
		end++
	}
	if isNone(s[user+1 : end]) {
		return -1, -1
	}
	return user + 1, end
}

// dashes is the range of a PEM block, a key of Mailchimp or the value of a secret
// option of a command line, whose dash is at s[i].
func (x *Scrubber) dashes(s string, i int) (start, end int) {
	if i > 0 && s[i-1] == '-' {
		return -1, -1
	}
	const begin = "-----BEGIN"
	if strings.HasPrefix(s[i:], begin) && i+len(begin) < len(s) && strings.IndexByte(" %+", s[i+len(begin)]) >= 0 {
		return i, pemEnd(s, i)
	}
	if i+3 < len(s) && s[i+1] == 'u' && s[i+2] == 's' && isDigit(s[i+3]) {
		return mailchimp(s, i)
	}
	if !strings.HasPrefix(s[i:], "--") || i > 0 && isAlnum(s[i-1]) {
		return -1, -1
	}
	key := i + 2
	for limit := min(len(s), i+2+maxKey); key < limit && isNameOfElement(s[key]) && s[key] != ':'; {
		key++
	}
	if key == i+2 || key+1 >= len(s) || s[key] != ' ' || !x.SecretKey(s[i+2:key]) {
		return -1, -1
	}
	start = key + 1
	if s[start] == '-' {
		return -1, -1
	}
	start, end = valueRange(s, start)
	if end > start && (isSentenceWord(s[start:end]) || restWords[s[start:end]]) {
		return -1, -1 // of a sentence about the option
	}
	return start, end
}
