package exchange

import "strings"

// lexer reads a query in one dialect and raises the class of the bytes that are a
// literal or a comment in that dialect.
type lexer struct {
	s       string
	dialect dialect
	class   []uint8
	found   func(literal string)
	// word is the last word in lower case, "" when more than blanks and comments
	// stands behind it.
	word string
}

func (l *lexer) speaks(d dialect) bool { return l.dialect&d != 0 }

// mark raises the class of the bytes from i to end, and returns end.
func (l *lexer) mark(i, end int, class uint8) int {
	for ; i < end; i++ {
		l.class[i] = max(l.class[i], class)
	}
	return end
}

// value marks a literal and returns its end. quote is the length of its opening
// and of its closing quote.
func (l *lexer) value(i, end, quote int) int {
	l.word = ""
	if inner := strings.TrimSpace(l.s[min(i+quote, end):max(min(i+quote, end), end-quote)]); inner != "" {
		l.found(inner)
	}
	return l.mark(i, end, literal)
}

func (l *lexer) run() {
	for i := 0; i < len(l.s); {
		i = l.next(i)
	}
}

// next reads the token at i and returns its end.
func (l *lexer) next(i int) int {
	c := l.s[i]
	switch {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		return i + 1
	case c == '\'':
		return l.value(i, l.quoted(i), 1)
	case c == '"':
		return l.doubleQuoted(i)
	case c == '`':
		return l.backQuoted(i)
	case c == '$':
		return l.dollar(i)
	case l.beginsComment(i):
		return l.comment(i)
	case isDigit(c), c == '.' && i+1 < len(l.s) && isDigit(l.s[i+1]):
		return l.number(i)
	case isWord(c):
		return l.name(i)
	default:
		l.word = ""
		return i + 1
	}
}

// quoted is the end of the quoted text at i: the end of the query if nothing
// closes it. A doubled quote is part of the text.
func (l *lexer) quoted(i int) int {
	quote := l.s[i]
	for i++; i < len(l.s); i++ {
		switch {
		case l.s[i] == '\\' && l.speaks(backslashEscapes):
			i++
		case l.s[i] != quote:
		case i+1 < len(l.s) && l.s[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return len(l.s)
}

// doubleQuoted reads "…", a name in standard SQL and a text in MySQL. It is a name
// where MySQL allows no text.
func (l *lexer) doubleQuoted(i int) int {
	end := l.quoted(i)
	word := l.word
	l.word = ""
	if end-i >= 3 && l.s[end-1] == '"' && isName(l.s[i+1:end-1], "_$") && (l.dotted(i, end) || l.afterTableWord(word, end)) {
		return end
	}
	return l.value(i, end, 1)
}

// dotted says whether a dot joins the text to a name, as in "users"."id".
func (l *lexer) dotted(i, end int) bool {
	before := i >= 2 && l.s[i-1] == '.' && (isWord(l.s[i-2]) || strings.IndexByte("\"`?]", l.s[i-2]) >= 0)
	after := end+1 < len(l.s) && l.s[end] == '.' && (isWord(l.s[end+1]) && !isDigit(l.s[end+1]) || strings.IndexByte("\"`?*[", l.s[end+1]) >= 0)
	return before || after
}

// afterTableWord says whether a table stands behind the word. FROM can also be
// part of TRIM(x FROM "text"), where a bracket stands behind the text.
func (l *lexer) afterTableWord(word string, end int) bool {
	switch word {
	case "into", "update", "join", "table":
		return true
	case "from":
		rest := strings.TrimLeft(l.s[end:], " \t\r\n")
		return rest == "" || strings.IndexByte(")-/#", rest[0]) < 0
	}
	return false
}

// backQuoted reads `…`, a name in every dialect that has it.
func (l *lexer) backQuoted(i int) int {
	l.word = ""
	length := strings.IndexByte(l.s[i+1:], '`')
	if length < 0 {
		return l.value(i, len(l.s), 1)
	}
	end := i + length + 2
	if isName(l.s[i+1:end-1], "_$-. ") && length <= maxName {
		return end
	}
	return l.value(i, end, 1)
}

// dollar reads $1, a placeholder, and $tag$ text $tag$.
func (l *lexer) dollar(i int) int {
	l.word = ""
	end := i + 1
	for end < len(l.s) && isWord(l.s[end]) && l.s[end] != '$' {
		end++
	}
	if l.speaks(dollarQuotes) && end < len(l.s) && l.s[end] == '$' && (end == i+1 || !isDigit(l.s[i+1])) {
		tag := l.s[i : end+1]
		length := strings.Index(l.s[end+1:], tag)
		if length < 0 {
			return l.value(i, len(l.s), len(tag))
		}
		return l.value(i, end+1+length+len(tag), len(tag))
	}
	if number := l.s[i+1 : end]; len(number) > maxPlaceholder && isDigit(number[0]) {
		return l.value(i, end, 1)
	}
	return end
}

// maxPlaceholder is how many digits the highest placeholder has, $65535.
const maxPlaceholder = 5

func (l *lexer) beginsComment(i int) bool {
	rest := l.s[i:]
	switch {
	case strings.HasPrefix(rest, "/*"):
		return true
	case strings.HasPrefix(rest, "--"):
		return l.speaks(bareDashes) || len(rest) == 2 || rest[2] <= ' '
	case rest[0] == '#':
		// #> and #>> are operators for JSON; no comment begins with them.
		return l.speaks(hashComments) && !strings.HasPrefix(rest, "#>")
	}
	return false
}

// comment marks the comment that begins at i.
func (l *lexer) comment(i int) int {
	if l.s[i] != '/' {
		length := strings.IndexByte(l.s[i:], '\n')
		if length < 0 {
			length = len(l.s) - i
		}
		return l.mark(i, i+length, comment)
	}
	depth := 1
	end := i + 2
	for ; end < len(l.s) && depth > 0; end++ {
		switch {
		case strings.HasPrefix(l.s[end:], "*/"):
			depth--
			end++
		case l.speaks(nestedComments) && strings.HasPrefix(l.s[end:], "/*"):
			depth++
			end++
		}
	}
	return l.mark(i, min(end, len(l.s)), comment)
}

// number marks a token that begins with a digit as a literal, with its letters.
func (l *lexer) number(i int) int {
	end := i
	for end < len(l.s) {
		c := l.s[end]
		sign := (c == '+' || c == '-') && end > i && l.s[end-1]|0x20 == 'e' && end+1 < len(l.s) && isDigit(l.s[end+1])
		if !isWord(c) && c != '.' && !sign {
			break
		}
		end++
	}
	return l.value(i, end, 0)
}

// name reads a word, and the text behind it if the word is Oracle's q.
func (l *lexer) name(i int) int {
	end := i
	for end < len(l.s) && isWord(l.s[end]) {
		end++
	}
	l.word = strings.ToLower(l.s[i:end])
	if l.speaks(quoteOperator) && (l.word == "q" || l.word == "nq") && strings.HasPrefix(l.s[end:], "'") {
		return l.operatorQuoted(end)
	}
	return end
}

// operatorQuoted reads '[text]' behind a q.
func (l *lexer) operatorQuoted(i int) int {
	if i+1 == len(l.s) {
		return l.value(i, len(l.s), 1)
	}
	closing := l.s[i+1]
	if pair := strings.IndexByte("([{<", closing); pair >= 0 {
		closing = ")]}>"[pair]
	}
	length := strings.Index(l.s[i+2:], string([]byte{closing, '\''}))
	if length < 0 {
		return l.value(i, len(l.s), 2)
	}
	return l.value(i, i+2+length+2, 2)
}

// isWord says whether a byte belongs to a name, as all bytes beyond ASCII do.
func isWord(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' || c == '$' || c >= 0x80 }
