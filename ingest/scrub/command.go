package scrub

import "strings"

// This file finds secrets in command lines and in files of passwords.

// option is an option of a program whose value is a password.
type option struct {
	name   string
	glued  bool // the value follows without a blank, too
	behind byte // the password begins behind this byte of the value; 0: all of it
	blank  bool // the value follows a blank or =
}

// options are the options with passwords of programs that errors quote. Those
// with a secret name (--password) are known without the program.
var options = map[string][]option{
	"curl":       {{"-u", true, ':', true}, {"--user", false, ':', true}, {"-U", true, ':', true}, {"--proxy-user", false, ':', true}},
	"http":       {{"-a", false, ':', true}, {"--auth", false, ':', true}},
	"mysql":      {{"-p", true, 0, false}},
	"mysqldump":  {{"-p", true, 0, false}},
	"mysqladmin": {{"-p", true, 0, false}},
	"mariadb":    {{"-p", true, 0, false}},
	"sshpass":    {{"-p", true, 0, true}},
	"redis-cli":  {{"-a", false, 0, true}},
	"ldapsearch": {{"-w", true, 0, true}},
	"ldapmodify": {{"-w", true, 0, true}},
	"7z":         {{"-p", true, 0, false}},
	"unzip":      {{"-P", false, 0, true}},
	"zip":        {{"-P", false, 0, true}},
	"sqlcmd":     {{"-P", true, 0, true}},
	"bcp":        {{"-P", true, 0, true}},
	"smbclient":  {{"-U", true, '%', true}},
	"mongosh":    {{"-p", false, 0, true}},
	"mongo":      {{"-p", false, 0, true}},
	"mongodump":  {{"-p", false, 0, true}},
	"cqlsh":      {{"-p", false, 0, true}},
	"az":         {{"-p", false, 0, true}},
	"podman":     {{"-p", false, 0, true}},
	"helm":       {{"-p", false, 0, true}},
	"keytool":    {{"-storepass", false, 0, true}, {"-keypass", false, 0, true}},
	"snmpwalk":   {{"-A", false, 0, true}, {"-X", false, 0, true}},
	"ipmitool":   {{"-P", false, 0, true}},
}

var loginOptions = []option{{"-p", false, 0, true}}

// maxCommand bounds a command line.
const maxCommand = 400

// command remembers the passwords in the options of the program whose name ends
// at s[i].
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

// value is where the value of the option at s[i] begins, 0 if it is another
// option or has none.
func (o *option) value(s string, i int) int {
	if !strings.HasPrefix(s[i:], o.name) {
		return 0
	}
	k := i + len(o.name)
	switch {
	case k >= len(s):
		return 0
	case s[k] == ' ' || s[k] == '=':
		if o.blank {
			return k + 1
		}
		return 0
	case o.glued:
		return k
	}
	return 0
}

// optionValue remembers the value at s[i], or what stands in it behind a byte.
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

// dockerLogin remembers the password of "docker login" behind s[i]; -p of other
// commands of it are ports.
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

// pgpass is the range of the password of a line of .pgpass, the colon before
// whose port is at s[i]: host:port:database:user:password.
func pgpass(s string, i int) (start, end int) {
	field := func(from int, more string) int {
		k := run(s, from, more)
		if k == from || k >= len(s) || s[k] != ':' {
			return -1
		}
		return k
	}
	host := i
	for host > 0 && i-host < maxKey && (isAlnum(s[host-1]) || strings.IndexByte(".-*_", s[host-1]) >= 0) {
		host--
	}
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

// dashes finds PEM blocks, keys of Mailchimp and the values of command line
// options at s[i].
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
