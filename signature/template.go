package signature

import (
	"bytes"
	"strings"
	"sync"
)

// maxTemplate bounds a template in bytes. The beginning of a message tells two
// problems apart. Its end is often SQL, JSON or a list, and differs in length
// from event to event.
const maxTemplate = 512

// Template is the message of signature recipe v1: its head line, with
// placeholders for the parts that change from event to event. The events of one
// problem then have the same template, and different problems different ones.
//
//	numbers, hex and other ids     <num>    durations  <dur>   IP addresses   <ip>
//	0x… pointers                   <hex>    sizes      <size>  mail addresses <email>
//	quoted values, names below     <str>    dates and  <date>  UUIDs          <uuid>
//	  /tmp/                                 times
//
// Numbers and ids share a placeholder: one hex id of eight digits in 43 has no
// letter, and must not become a second problem.
//
// Words, class names, names with digits (utf8mb4, Win32Exception) and codes stay.
// A code is a number after a word like status, errno, code or SQLSTATE, the
// status behind a URL or before its words (`404 Not Found`), the first number of
// a driver's error (1062, "…"), or a vendor's code (E11000, TS2304, ORA-00942).
// A quoted name stays with its quotes where the words around it say that it is a
// name (column "email", 'int' object), where it looks like code (App\Models\User,
// String.length()) or is a URL, and where it is the whole message. Any other
// quoted text is a value. The query of a URL is left out. A list of equal
// placeholders becomes one, and a counted noun stands in the singular ("3 rows
// were" as "1 row was").
//
// The head line is the first line that is not blank. While it ends in a colon,
// the next line is joined to it. Each run of white space becomes one space.
//
// Template is a pure function of its argument, linear in its length, and
// idempotent. It is part of recipe v1 and never changes once it is released: a
// better one is a new recipe. The caller scrubs the message first.
func Template(message string) string { return templateOf(message, nil) }

// templateOf is Template. It appends what it replaces to trace, if there is one.
func templateOf(message string, trace *[]Replacement) string {
	t := templaters.Get().(*templater)
	defer templaters.Put(t)
	t.trace = trace
	out, whole := t.walk(HeadLine(message))
	t.trace = nil
	// The text behind the cut may have decided about the token before it. A cut
	// template is walked again until it no longer changes.
	for rounds := 0; !whole && rounds < maxRounds; rounds++ {
		before := string(out)
		if out, _ = t.walk(before); string(out) == before {
			break
		}
	}
	if string(out) == message {
		return message
	}
	return string(out)
}

// maxRounds bounds the walks over a cut template. Two are enough for any message
// that was not made to need more.
const maxRounds = 8

// templaters keeps the output buffers, which saves one allocation for each event.
var templaters = sync.Pool{New: func() any {
	return &templater{out: make([]byte, 0, 2*maxTemplate)}
}}

// HeadLine is the part of a message that [Template] is made of.
func HeadLine(message string) string {
	line, rest := cutLine(message)
	for strings.HasSuffix(line, ":") && len(line) < maxTemplate {
		next, more := cutLine(rest)
		if next == "" {
			break
		}
		line, rest = line+" "+next, more
	}
	return squeeze(line)
}

// squeeze makes each run of white space one space, so that a function that looks
// ahead sees the same in a line and in its template.
func squeeze(line string) string {
	odd := 0
	for odd < len(line) && line[odd] > ' ' && line[odd] != 0x7f && line[odd] != 0xc2 ||
		odd+1 < len(line) && line[odd] == ' ' && line[odd+1] > ' ' {
		odd++
	}
	if odd == len(line) {
		return line
	}
	return strings.Join(strings.FieldsFunc(line, isSpaceRune), " ")
}

// cutLine is the first line that is not blank, trimmed, and the text behind it.
func cutLine(s string) (line, rest string) {
	for s != "" {
		end := strings.IndexAny(s, "\r\n")
		if end < 0 {
			return strings.TrimFunc(s, isSpaceRune), ""
		}
		line, s = strings.TrimFunc(s[:end], isSpaceRune), s[end+1:]
		if line != "" {
			return line, s
		}
	}
	return "", ""
}

func isSpaceRune(r rune) bool { return r <= ' ' || r == 0x7f || r == 0xa0 }

// templater walks a line once, token by token. It decides by the token and by
// the output so far, so that a second walk over the output decides the same.
type templater struct {
	in  string
	out []byte

	// The last kept word is out[word:wordStop]. The gap behind it begins at
	// wordEnd, which is -1 after a placeholder.
	word, wordStop, wordEnd int

	url    bool // within a URL, where "?" begins the query
	urlEnd int  // end of the last URL in out, 0 before the first
	noun   int  // end of the last counted noun in out
	// mailEnd is the end of the last text that was checked for a mail address.
	// noClose marks the quotes that nothing closes in the rest of the line.
	// Both keep the walk linear.
	mailEnd  int
	mailLeft bool // the line has an @
	noClose  [numQuotes]bool

	// For [Explain]: the placeholder that the token wrote, and the shortest
	// length of the output meanwhile.
	trace   *[]Replacement
	emitted string
	low     int
}

// walk writes the template of a line, up to maxTemplate bytes. It writes a token
// whole or not at all; whole says whether it wrote all of them.
func (t *templater) walk(line string) (out []byte, whole bool) {
	*t = templater{in: line, out: t.out[:0], wordEnd: -1, mailLeft: strings.IndexByte(line, '@') >= 0, trace: t.trace}
	for i := 0; i < len(line); {
		mark, from := len(t.out), i
		t.low, t.emitted = mark, ""
		i = t.next(i)
		if t.trace != nil {
			t.note(line[from:i], mark)
		}
		if len(t.out) > maxTemplate {
			t.out = t.out[:mark]
			return bytes.TrimRight(t.out, " "), false
		}
	}
	t.in = ""
	return bytes.TrimRight(t.out, " "), true
}

// next writes the token at in[i] and returns where the next one begins.
func (t *templater) next(i int) int {
	c := t.in[i]
	if t.url && endsURL(c) && (c != '<' || !belongsToURL(placeholderAt(t.in[i:]))) {
		t.endURL()
	}
	switch {
	case isWordAt(t.in, i):
		return t.atom(i)
	case c == ' ':
		if n := len(t.out); n > 0 && t.out[n-1] != ' ' {
			t.out = append(t.out, ' ')
		}
		return i + 1
	case c == '<':
		if p := placeholderAt(t.in[i:]); p != "" {
			t.emit(p)
			if p == "<ip>" {
				return t.port(i + len(p))
			}
			return i + len(p)
		}
	case c == '?':
		return t.question(i)
	case c == ':':
		if end := ipv6At(t.in, i); end > 0 && !t.afterWord() {
			t.emit("<ip>")
			return t.port(end)
		}
	default:
		if end := t.quoted(i, i); end > 0 {
			return end
		}
	}
	t.out = append(t.out, c)
	return i + 1
}

// question writes a "?", and one "?" for a list of statement parameters. It does
// not write the query of a URL, which may be there in one event and not in the
// next.
func (t *templater) question(i int) int {
	if !t.url {
		head := bytes.TrimSuffix(t.out, []byte(" "))
		if head, ok := bytes.CutSuffix(head, []byte("?,")); ok && len(head) > 0 && strings.IndexByte(" (,", head[len(head)-1]) >= 0 {
			t.out = head
		}
		t.out = append(t.out, '?')
		return i + 1
	}
	end := i + 1
	for end < len(t.in) && (!endsURL(t.in[end]) || t.in[end] == '<' && belongsToURL(placeholderAt(t.in[end:]))) {
		end += max(1, len(placeholderAt(t.in[end:])))
	}
	for end > i+1 && strings.IndexByte(".:;!?", t.in[end-1]) >= 0 {
		end--
	}
	return end
}

// belongsToURL says whether a placeholder can stand for a part of a URL. "<str>"
// cannot: it stands for a quoted text behind the URL.
func belongsToURL(placeholder string) bool { return placeholder != "" && placeholder != "<str>" }

func endsURL(c byte) bool {
	switch c {
	case '"', '\'', '`', '\\', '<', '>', '(', ')', '{', '}', ',', '|':
		return true
	}
	return c <= ' '
}

// placeholders are sorted by how often they occur.
var placeholders = [...]string{"<num>", "<str>", "<date>", "<hex>", "<uuid>", "<ip>", "<email>", "<dur>", "<size>"}

// placeholderAt is the placeholder at the beginning of s, "" for none.
func placeholderAt(s string) string {
	for _, p := range placeholders {
		if strings.HasPrefix(s, p) {
			return p
		}
	}
	return ""
}

// emit writes a placeholder. A list of equal placeholders becomes one, because
// the length of a list is a value too. So do a date and the time behind it.
func (t *templater) emit(p string) {
	t.wordEnd = -1
	t.emitted = p
	t.collapse(p)
	t.low = min(t.low, len(t.out))
	t.out = append(t.out, p...)
}

// collapse removes the placeholder at the end of the output if the new one, p,
// stands for both.
func (t *templater) collapse(p string) {
	head, found := bytes.CutSuffix(t.out, []byte(" "))
	head, comma := bytes.CutSuffix(head, []byte(","))
	if len(head) == t.urlEnd {
		return // the placeholder before belongs to a URL
	}
	if comma || found && p == "<date>" {
		if bytes.HasSuffix(head, []byte(p)) {
			t.out = head[:len(head)-len(p)]
			return
		}
	}
	// "$1, $2" is a list as well.
	if head, ok := bytes.CutSuffix(t.out, []byte("$")); ok {
		head = bytes.TrimSuffix(head, []byte(" "))
		if head, ok = bytes.CutSuffix(head, []byte(",")); ok && len(head) != t.urlEnd && bytes.HasSuffix(head, []byte("$"+p)) {
			t.out = head[:len(head)-len(p)]
		}
	}
}

// emitSigned writes a placeholder in the place of a number with its sign.
func (t *templater) emitSigned(p string) {
	if n := len(t.out); n > 0 && (t.out[n-1] == '-' || t.out[n-1] == '+') {
		if n == 1 || strings.IndexByte(" ([{,=:", t.out[n-2]) >= 0 {
			t.out = t.out[:n-1]
		}
	}
	t.emit(p)
}

// keep writes text as it is and remembers it as the last kept word.
func (t *templater) keep(text string) {
	t.word = len(t.out)
	t.out = append(t.out, text...)
	t.wordStop = len(t.out)
	t.wordEnd = t.wordStop
}

// before is the last kept word, in lower case, and the gap behind it. Both are
// nil when a placeholder stands between or the gap is longer than max bytes.
func (t *templater) before(max int, buf *[16]byte) (word, gap []byte) {
	if t.wordEnd < 0 || len(t.out)-t.wordEnd > max || t.wordStop-t.word > len(buf) {
		return nil, nil
	}
	word = buf[:t.wordStop-t.word]
	for i, c := range t.out[t.word:t.wordStop] {
		word[i] = lower(c)
	}
	return word, t.out[t.wordEnd:]
}

// afterWord says whether the output ends in a word, a placeholder included.
func (t *templater) afterWord() bool {
	n := len(t.out)
	if n == 0 {
		return false
	}
	c := t.out[n-1]
	if c == '>' {
		open := bytes.LastIndexByte(t.out, '<')
		return open >= 0 && placeholderAt(string(t.out[open:])) != ""
	}
	return isAlnum(c) || c == ':' || c >= 0x80
}
