package signature

import (
	"bytes"
	"strings"
	"sync"
)

// maxTemplate bounds a template in bytes. What tells two problems apart stands
// at the head of a message; the tail is dumped SQL, JSON or a list, whose length
// differs from sighting to sighting.
const maxTemplate = 512

// Template is the message of signature recipe v1: the head line with the parts
// that change from sighting to sighting replaced, so that sightings of one
// problem read the same and different problems still read differently.
//
//	numbers, hex and other ids     <num>    durations  <dur>   IP addresses   <ip>
//	0x… pointers                   <hex>    sizes      <size>  mail addresses <email>
//	quoted values, names below     <str>    dates and  <date>  UUIDs          <uuid>
//	  /tmp/                                 times
//
// Numbers and ids share a placeholder because an eight digit hex id is all
// digits once in 43 times, and must not become a second problem then.
//
// Kept are words, class names, names that carry digits (utf8mb4, Win32Exception),
// and codes: a number after a word like status, errno, code or SQLSTATE, the
// status behind a URL or before its words (`404 Not Found`), the number of a
// driver's (1062, "…"), and vendors' codes (E11000, TS2304, ORA-00942). A quoted
// name is kept with its quotes where the words around it say that it is one
// (column "email", 'int' object), where it looks like code (App\Models\User,
// String.length()) or is a URL, and where it is the whole message; any other
// quoted text is a value. The query of a URL is left out. Lists of equal
// placeholders become one, and what is counted is written as if it were one
// ("3 rows were" as "1 row was").
//
// The head line is the first line that is not blank; while it ends in a colon
// the next one is joined to it. White space runs become one space.
//
// Template is a pure function of its argument, linear in its length, and
// idempotent. It is part of recipe v1: once released it never changes, a better
// one is a new recipe. Messages are scrubbed before.
func Template(message string) string { return templateOf(message, nil) }

// templateOf is Template. What it replaces is noted in trace unless that is nil.
func templateOf(message string, trace *[]Replacement) string {
	t := templaters.Get().(*templater)
	defer templaters.Put(t)
	t.trace = trace
	out, whole := t.walk(headLine(message))
	t.trace = nil
	// What was cut off may have decided about the token before it, so a cut
	// template is walked again until it stands.
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

// maxRounds bounds the walks over a template that was cut; two do for all that
// is not made to need more.
const maxRounds = 8

// templaters keeps the output buffers, one allocation less for each event.
var templaters = sync.Pool{New: func() any {
	return &templater{out: make([]byte, 0, 2*maxTemplate)}
}}

// headLine is the line that the template is made of.
func headLine(message string) string {
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

// squeeze makes each run of white space one space, so that what looks ahead
// sees the same before and after a walk.
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

// cutLine is the first line with anything on it, trimmed, and what follows it.
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

// templater walks a line once, token by token. Every decision rests on the
// token itself and on what was written so far, so that a second walk over the
// output decides the same.
type templater struct {
	in  string
	out []byte

	// The last kept word is out[word:wordStop]; what is judged as the gap
	// behind it begins at wordEnd. wordEnd is -1 after a placeholder.
	word, wordStop, wordEnd int

	url    bool // within a URL, where "?" begins the query
	urlEnd int  // where the last URL ended in out, 0 before the first
	noun   int  // where what was counted last ended in out
	// mailEnd is the end of the last run that was tried as a mail address and
	// was none; noClose says that a kind of quote is not closed any more. Both
	// keep the walk linear.
	mailEnd  int
	mailLeft bool // the line has a mail address' sign
	noClose  [numQuotes]bool

	// What [Explain] asks for: the placeholder that the token wrote, and
	// the shortest that the output was while it did.
	trace   *[]Replacement
	emitted string
	low     int
}

// walk writes the template of a line, up to maxTemplate bytes. A token is
// written whole or not at all; whole says whether all of them were.
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
			return t.afterPlaceholder(p, i+len(p))
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

// question writes a "?" and a list of statement parameters as one of them. The
// query of a URL is not written: whether there is one changes with its values.
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

// belongsToURL says whether a placeholder can stand for a part of a URL, and
// not only for what was quoted behind it.
func belongsToURL(placeholder string) bool { return placeholder != "" && placeholder != "<str>" }

func endsURL(c byte) bool {
	switch c {
	case '"', '\'', '`', '\\', '<', '>', '(', ')', '{', '}', ',', '|':
		return true
	}
	return c <= ' '
}

// placeholders in the order they are looked for.
var placeholders = [...]string{"<num>", "<str>", "<date>", "<hex>", "<uuid>", "<ip>", "<email>", "<dur>", "<size>"}

// placeholderAt is the placeholder that s begins with, "" when it begins with none.
func placeholderAt(s string) string {
	for _, p := range placeholders {
		if strings.HasPrefix(s, p) {
			return p
		}
	}
	return ""
}

// emit writes a placeholder. A list of equal placeholders collapses into one,
// because its length is a value, too; so do a date and the time after it.
func (t *templater) emit(p string) {
	t.wordEnd = -1
	t.emitted = p
	t.collapse(p)
	t.low = min(t.low, len(t.out))
	t.out = append(t.out, p...)
}

// collapse takes the placeholder before, which the new one stands for as well,
// off the output.
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

// emitSigned writes a placeholder that takes the sign before it along.
func (t *templater) emitSigned(p string) {
	if n := len(t.out); n > 0 && (t.out[n-1] == '-' || t.out[n-1] == '+') {
		if n == 1 || strings.IndexByte(" ([{,=:", t.out[n-2]) >= 0 {
			t.out = t.out[:n-1]
		}
	}
	t.emit(p)
}

// afterPlaceholder goes on behind a placeholder that stood in the input.
func (t *templater) afterPlaceholder(p string, i int) int {
	if p == "<ip>" {
		return t.port(i)
	}
	return i
}

// keep writes text as it is and remembers it as the word before.
func (t *templater) keep(text string) {
	t.word = len(t.out)
	t.out = append(t.out, text...)
	t.wordStop = len(t.out)
	t.wordEnd = t.wordStop
}

// before is the last kept word, in lower case, and the gap behind it; "" when
// a placeholder stands between or the gap is longer than max bytes.
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
