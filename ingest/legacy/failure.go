package legacy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-faster/jx"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/lenient"
	"github.com/errata-log/errata/ingest/stacktrace"
)

// failure reads the error of a line: a text, which may be a printed stack trace,
// or an object with class, message and stack.
func (r *record) failure(depth int) error {
	if r.dec.Next() != jx.Object {
		var text string
		err := r.dec.SetMessage(&text)
		stack := lenient.Cut(text, lenient.MaxText)
		if head, trace, more := strings.Cut(stack, "\n"); more && r.stack == "" {
			r.stack = stack
			if strings.HasPrefix(head, "Traceback ") { // Python: the error stands last
				_, head, _ = cutLast(strings.TrimRight(trace, "\n"), "\n")
			}
			text = head
			if class, message, ok := strings.Cut(head, ": "); ok && r.class == "" && !strings.ContainsAny(class, " \t") {
				r.class, text = class, message
			}
		}
		if r.errorText == "" && text != "true" && text != "false" {
			r.errorText = text
		}
		return err
	}
	x, file, line, err := readException(&r.dec, depth)
	if len(x) > 0 && len(r.chain) == 0 {
		r.chain = x
		thrown := &x[len(x)-1]
		r.class, r.errorText = cmp.Or(r.class, thrown.Class), cmp.Or(r.errorText, thrown.Message)
		if r.file == "" {
			r.file, r.line = file, line
		}
	}
	return err
}

// exceptionReader reads one exception object.
type exceptionReader struct {
	dec    *lenient.Reader
	depth  int
	x      ingest.Exception
	stack  string
	file   string
	line   int64
	causes []ingest.Exception
}

// readException reads {"class", "message", "file": "path:12", "trace": […],
// "previous": {…}} and its other spellings. The causes come first, the thrown
// exception last; file and line are those of the thrown exception.
func readException(dec *lenient.Reader, depth int) (chain []ingest.Exception, file string, line int64, err error) {
	if depth >= maxNesting {
		return nil, "", 0, dec.Skip()
	}
	e := exceptionReader{dec: dec, depth: depth}
	if err := lenient.Object(dec, &e, (*exceptionReader).field); err != nil {
		return nil, "", 0, err
	}
	frames, place := stacktrace.Parse(e.stack)
	if len(frames) == 0 {
		frames = placesOf(e.stack)
	}
	e.x.Frames = frames
	if e.file == "" && place.Known {
		e.file, e.line = place.File, place.Line
	}
	if e.x.Class == "" && e.x.Message == "" && len(frames) == 0 {
		return nil, "", 0, nil
	}
	return append(e.causes, e.x), e.file, e.line, nil
}

func (e *exceptionReader) field(key []byte) error {
	switch string(key) {
	case "class", "type", "name", "exception_class", "kind":
		if e.x.Class != "" {
			return e.dec.Skip()
		}
		return e.dec.Set(&e.x.Class)
	case "message", "msg", "exception_message":
		return e.dec.SetMessage(&e.x.Message)
	case "file":
		var text string
		err := e.dec.Set(&text)
		file, line := splitPlace(text)
		if e.file = file; line > 0 {
			e.line = line
		}
		return err
	case "line":
		return setLine(e.dec, &e.line)
	case "stack", "stacktrace", "stack_trace", "trace":
		return e.trace()
	case "previous", "cause":
		if e.dec.Next() != jx.Object {
			return e.dec.Skip()
		}
		causes, _, _, err := readException(e.dec, e.depth+1)
		if len(causes) < ingest.MaxExceptions {
			e.causes = causes
		}
		return err
	default:
		return e.dec.Skip()
	}
}

// trace reads the stack of an exception: a text, or an array of texts.
func (e *exceptionReader) trace() error {
	if e.dec.Next() != jx.Array {
		return e.dec.Set(&e.stack)
	}
	var err error
	e.stack, err = joined(e.dec)
	return err
}

// joined reads an array of texts as lines.
func joined(dec *lenient.Reader) (string, error) {
	var lines strings.Builder
	err := lenient.Array(dec, dec, func(dec *lenient.Reader) error {
		line, err := dec.Bytes()
		if len(line) > 0 && lines.Len() < lenient.MaxText {
			lines.Write(line)
			lines.WriteByte('\n')
		}
		return err
	})
	return lines.String(), err
}

// placesOf reads Monolog's trace, which has a place like "path:12" in each line,
// newest first, into frames, oldest first.
func placesOf(text string) []ingest.Frame {
	var trace stacktrace.Trace
	for _, text := range slices.Backward(strings.Split(strings.TrimSpace(text), "\n")) {
		if file, line := splitPlace(strings.TrimSpace(text)); line > 0 {
			trace.Add(ingest.Frame{File: file, Line: line, InApp: !strings.Contains(file, "/vendor/")})
		}
	}
	return trace.Frames()
}

// contextReader splits a Monolog context into its exception and the rest.
type contextReader struct {
	dec   lenient.Reader
	draft *ingest.Draft
	rest  jx.Writer
	kept  int
}

// readContext reads the exception of a context, one JSON object, and keeps the
// rest as the draft's extra. It keeps no extra of a broken object.
func readContext(raw []byte, d *ingest.Draft) {
	var c contextReader
	c.draft = d
	c.dec.Reset(raw)
	c.rest.ObjStart()
	if lenient.Object(&c.dec, &c, (*contextReader).field) != nil {
		return
	}
	c.rest.ObjEnd()
	if c.kept > 0 {
		d.Context.Extra = c.rest.Buf
	}
}

func (c *contextReader) field(key []byte) error {
	if string(key) == "exception" && c.dec.Next() == jx.Object {
		chain, file, line, err := readException(&c.dec, 0)
		if len(chain) > 0 {
			c.draft.Class, c.draft.File, c.draft.Line = chain[len(chain)-1].Class, file, line
			c.draft.Context.Exceptions = chain
		}
		return err
	}
	if string(key) == "userId" { // of Laravel
		raw, err := c.dec.Raw()
		c.draft.UserID = strings.Trim(string(raw), `"`)
		return err
	}
	if c.kept > 0 {
		c.rest.Comma()
	}
	c.rest.FieldStart(string(key))
	raw, err := c.dec.Raw()
	c.rest.Raw(raw)
	c.kept++
	return err
}

// levelOf reads a level from its name, else from the field "level": a name, or a
// number of Monolog (100 to 600), Bunyan and Pino (10 to 60), or syslog (0 to 7).
func levelOf(name, level string) errata.Level {
	for _, text := range []string{name, level} {
		if text == "" {
			continue
		}
		word := text
		if at := strings.IndexAny(text, "+-"); at > 0 { // slog: ERROR+2
			word = text[:at]
		}
		if l, ok := errata.ParseLevel(word); ok {
			return l
		}
		if n := lenient.ParseInt([]byte(text)); n > 0 || text == "0" {
			return levelNumber(n)
		}
	}
	return errata.LevelUnknown
}

func levelNumber(n int64) errata.Level {
	syslog := [...]errata.Level{
		errata.LevelFatal, errata.LevelFatal, errata.LevelCritical, errata.LevelError,
		errata.LevelWarning, errata.LevelNotice, errata.LevelInfo, errata.LevelDebug,
	}
	monolog := [...]struct {
		from  int64
		level errata.Level
	}{
		{550, errata.LevelFatal}, {500, errata.LevelCritical}, {400, errata.LevelError}, {300, errata.LevelWarning},
		{250, errata.LevelNotice}, {200, errata.LevelInfo}, {100, errata.LevelDebug},
		{60, errata.LevelFatal}, {50, errata.LevelError}, {40, errata.LevelWarning}, {30, errata.LevelInfo}, {8, errata.LevelDebug},
	}
	if n >= 0 && n < int64(len(syslog)) {
		return syslog[n]
	}
	for _, m := range monolog {
		if n >= m.from {
			return m.level
		}
	}
	return errata.LevelUnknown
}
