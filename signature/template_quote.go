package signature

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
)

// This file decides whether a quoted text is a name, which stays, or a value.

// The kinds of quotes, as indexes of templater.noClose.
const (
	quoteSingle = iota
	quoteDouble
	quoteBack
	quoteEscaped // \" in a text that was quoted before
	quoteCurlySingle
	quoteCurlyDouble
	quoteAngle
	numQuotes
)

// maxName bounds a quoted name in bytes. A longer one is a value.
const maxName = 96

// quoted writes the quoted text whose opening quote is at in[open], and returns
// its end, 0 when nothing is quoted here. The token begins at in[start], with a
// prefix such as b, which is left out.
func (t *templater) quoted(start, open int) int {
	kind, from, closer := t.opening(open)
	if closer == "" {
		if start == open {
			return t.typographic(open)
		}
		return 0
	}
	if kind == quoteSingle && t.afterWord() || start != open && t.afterWord() {
		return 0 // an apostrophe
	}
	if t.noClose[kind] {
		return t.typographic(open)
	}
	end := t.closing(from, kind, closer)
	if end < 0 {
		t.noClose[kind] = true
		return t.typographic(open)
	}
	content := t.in[from:end]
	after := end + len(closer)
	if kind != quoteEscaped && t.keepQuoted(t.in[open:from], content, closer, after) {
		// In the same token as the name, so that both are cut off together.
		words := t.rightWords(after)
		t.out = append(t.out, words...)
		return after + len(words)
	}
	t.emit("<str>")
	return after
}

// opening finds the opening quote at in[i]: its kind, the beginning of the text
// behind it, and the closing quote, "" for no quote.
func (t *templater) opening(i int) (kind, from int, closer string) {
	rest := t.in[i:]
	switch {
	case rest[0] == '\'':
		return quoteSingle, i + 1, "'"
	case rest[0] == '"':
		return quoteDouble, i + 1, `"`
	case rest[0] == '`':
		return quoteBack, i + 1, "`"
	case strings.HasPrefix(rest, `\"`):
		return quoteEscaped, i + 2, `\"`
	case strings.HasPrefix(rest, "‘"):
		return quoteCurlySingle, i + 3, "’"
	case strings.HasPrefix(rest, "“"):
		return quoteCurlyDouble, i + 3, "”"
	case strings.HasPrefix(rest, "„"):
		return quoteCurlyDouble, i + 3, "“"
	case strings.HasPrefix(rest, "«"):
		return quoteAngle, i + 2, "»"
	}
	return 0, 0, ""
}

// typographic writes a quote of several bytes that nothing closes.
func (t *templater) typographic(i int) int {
	var n int
	switch t.in[i] {
	case 0xc2:
		n = 2
	case 0xe2:
		n = 3
	default:
		return 0
	}
	t.out = append(t.out, t.in[i:i+n]...)
	return i + n
}

// closing finds the closing quote, -1 for none. A doubled or escaped quote is
// part of the text, and so is a single quote within a word ('can't').
func (t *templater) closing(i int, kind int, closer string) int {
	in := t.in
	if kind >= quoteEscaped {
		if k := strings.Index(in[i:], closer); k >= 0 {
			return i + k
		}
		return -1
	}
	q := closer[0]
	for ; i < len(in); i++ {
		switch {
		case in[i] == '\\' && i+1 < len(in) && in[i+1] == q:
			i++
		case in[i] != q:
		case i+1 < len(in) && in[i+1] == q && kind == quoteSingle:
			i++
		case kind == quoteSingle && i+1 < len(in) && (isWordAt(in, i+1) || placeholderAt(in[i+1:]) != ""):
		default:
			return i
		}
	}
	return -1
}

// keepName writes the quoted text with its quotes if it is a name.
func (t *templater) keepName(opener, content, closer string, after int) bool {
	method := isMethod(content)
	if content == "" || len(content) > maxName || !method && strings.IndexFunc(content, notNameRune) >= 0 {
		return false
	}
	named := opener == "`" || t.namedBefore() || t.rightWords(after) != "" || isTypeName(content) || len(t.out) == 0 && after == len(t.in)
	mark := len(t.out)
	name := t.walkQuoted(opener, content)
	if len(name) <= maxName && startsName(name) && (named || isCodeLike(name)) && (!method || isMethod(string(name))) {
		t.out = append(t.out, closer...)
		return true
	}
	t.out = t.out[:mark]
	return false
}

func notNameRune(r rune) bool {
	if r < 0x80 {
		return !isAlnum(byte(r)) && strings.IndexByte(`_$.\:/@#-<>()[]`, byte(r)) < 0
	}
	return !unicode.IsLetter(r)
}

// startsName says whether the template of a quoted text can be a name: it begins
// like one and does not consist of placeholders.
func startsName(name []byte) bool {
	if len(name) == 0 || name[0] == '<' && !bytes.HasPrefix(name, []byte("<num>")) || isDigit(name[0]) {
		return false
	}
	for i := 0; i < len(name); i++ {
		if name[i] == '<' {
			if p := placeholderAt(string(name[i:])); p != "" {
				i += len(p) - 1
				continue
			}
			return false
		}
		if isLetter(name[i]) || name[i] >= 0x80 {
			return true
		}
	}
	return false
}

// isCodeLike says whether a name looks like code, whatever stands around it:
// App\Models\User, Foo::bar, Order.Total, String.length().
func isCodeLike(name []byte) bool {
	s := string(name)
	if strings.HasSuffix(s, ")") {
		return isLetter(s[0]) && strings.Contains(s, "(")
	}
	if strings.ContainsAny(s, "/@<>()[]-") || strings.Contains(s, `:\`) {
		return false
	}
	if strings.Contains(s, `\`) || strings.Contains(s, "::") {
		return true
	}
	// A capital behind the last dot; "report.pdf" and "example.com" are values.
	dot := strings.LastIndexByte(s, '.')
	return dot > 0 && dot < len(s)-1 && isUpper(s[dot+1])
}

// namedBefore says whether the words before the quote say that a name follows.
func (t *templater) namedBefore() bool {
	if slices.ContainsFunc(nameWords[:], t.saysBefore) {
		return true
	}
	var buf [16]byte
	w, g := t.before(2, &buf)
	if string(w) == "host" && string(g) == "=" {
		return true
	}
	if gap := string(g); w == nil || gap != " " && gap != " (" && gap != "(" {
		return false
	}
	switch string(w) {
	case "class", "interface", "trait", "enum", "struct", "type", "object", "instance", "component", "module", "package",
		"namespace", "import", "from", "require", "required", "method", "function", "func", "macro", "callback", "hook",
		"property", "attribute", "member", "variable", "constant", "parameter", "param", "argument", "arg", "option", "flag",
		"column", "columns", "field", "fields", "table", "relation", "index", "key", "constraint", "database", "schema", "view",
		"sequence", "trigger", "collection", "into", "update", "join", "where", "template", "route", "controller",
		"action", "command", "job", "queue", "topic", "plugin", "extension", "driver", "provider", "service", "bean",
		"directive", "element", "tag", "prop", "symbol", "identifier", "keyword", "reading", "setting", "named",
		"attributes", "because", "label", "annotation", "decorator", "middleware", "dependency", "role", "permission", "feature", "assembly",
		"header", "section", "placeholder", "operation", "operator", "selector", "program", "binary", "executable", "entity", "model",
		"event", "procedure", "bucket", "scope", "claim", "metric", "policy", "encoding", "charset", "protocol", "scheme":
		return true
	}
	return false
}

// rightWords are the words at in[after] which Python writes behind a name in
// quotes; "" for others.
func (t *templater) rightWords(after int) string {
	rest := t.in[after:]
	for _, w := range [...]string{" is not defined", " is undefined", " object", " has no attribute", " referenced before"} {
		if strings.HasPrefix(rest, w) && (len(rest) == len(w) || rest[len(w)] == ' ') {
			return w
		}
	}
	return ""
}
