package legacy

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/go-faster/jx"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/lenient"
	"github.com/errata-log/errata/ingest/native"
	"github.com/errata-log/errata/ingest/stacktrace"
)

// record holds the fields of a line of JSON. Each logger has its own names for
// them.
type record struct {
	dec lenient.Reader

	time, zone       string
	level, levelName string
	message          string
	class, errorText string // of the error
	stack            string
	file             string
	line             int64
	function         string
	chain            []ingest.Exception // causes first, the thrown exception last
	extra            []byte
	draft            ingest.Draft

	// ours counts the keys that only our own events have, foreign the keys that
	// our own events do not have.
	ours, foreign int
}

// maxNesting bounds how deep the causes of an exception may nest.
const maxNesting = 8

// parseJSON reads a line of JSON: an event as POST /api/v1/events takes it, or a
// record of Monolog or another common logger.
func parseJSON(text []byte) (ingest.Draft, *errata.Error) {
	var r record
	r.dec.Reset(text)
	if err := lenient.Object(&r.dec, &r, (*record).field); err != nil || !r.dec.AtEnd() {
		return ingest.Draft{}, errata.Errorf(errata.KindInvalidEvent, "the line is not one JSON object")
	}
	if r.ours > 0 || r.foreign == 0 {
		if d, err := native.ParseEvent(text); err == nil {
			return d, nil
		}
	}
	r.finish()
	return r.draft, nil
}

// finish makes a draft of the fields of the line.
func (r *record) finish() {
	d := &r.draft
	d.Context.Source = sourceJSON
	if r.zone != "" && !strings.ContainsAny(r.time, "Z+") {
		d.Time = stampTimeIn(r.time, r.zone)
	}
	if d.Time.IsZero() {
		d.Time, _ = lenient.Time(strings.Replace(r.time, ",", ".", 1))
	}
	d.Level = levelOf(r.levelName, r.level)
	d.Message, d.Class = cmp.Or(r.message, r.errorText), r.class
	frames, place := stacktrace.Parse(r.stack)
	d.File, d.Line = r.file, r.line
	if d.File == "" && place.Known {
		d.File, d.Line = place.File, place.Line
	}
	if len(frames) == 0 && r.function != "" {
		frames = []ingest.Frame{{File: r.file, Line: r.line, Function: r.function}}
	}
	d.Context.Exceptions = r.chain
	if n := len(r.chain); n > 0 {
		if len(r.chain[n-1].Frames) == 0 {
			r.chain[n-1].Frames = frames
		}
	} else if r.class != "" || r.errorText != "" || len(frames) > 0 {
		d.Context.Exceptions = []ingest.Exception{{Class: r.class, Message: r.errorText, Frames: frames}}
	}
	if len(r.extra) > 0 {
		d.Context.Extra = r.extra
	}
}

// field reads one key of the line.
//
// long: one case for each field, with the names that loggers give it.
func (r *record) field(key []byte) error {
	d := &r.draft
	switch string(key) {
	case "exception_class", "request_uri", "request_method", "frames", "payload", "fingerprint":
		r.ours++
		return r.dec.Skip()
	case "id", "user_id", "ip", "template", "type":
		return r.dec.Skip()
	case "time":
		return r.dec.Set(&r.time)
	case "level":
		return r.dec.Set(&r.level)
	case "message":
		return r.dec.SetMessage(&r.message)
	case "file":
		return r.place()
	case "line":
		return setLine(&r.dec, &r.line)
	}
	r.foreign++
	switch string(key) {
	case "ts", "timestamp", "@timestamp", "asctime", "@t", "datetime", "date", "eventTime":
		return r.when()
	case "level_name", "levelname", "severity", "lvl", "@l", "log.level", "loglevel":
		return r.dec.Set(&r.levelName)
	case "msg", "@m", "@mt", "short_message", "event":
		if r.message != "" {
			return r.dec.Skip()
		}
		return r.dec.SetMessage(&r.message)
	case "error", "err", "exception", "throwable", "thrown", "@x", "exc_info":
		return r.failure(0)
	case "error.type", "exception.type", "errorType":
		return r.dec.Set(&r.class)
	case "error.message", "exception.message", "errorMessage":
		return r.dec.SetMessage(&r.errorText)
	case "stack", "stacktrace", "stack_trace", "errorVerbose", "error.stack_trace", "exception.stacktrace", "trace", "full_message":
		return r.trace()
	case "caller", "source", "pathname", "filename", "log.origin.file.name":
		return r.place()
	case "lineno", "log.origin.file.line":
		return setLine(&r.dec, &r.line)
	case "func", "function", "funcName", "method":
		return r.dec.Set(&r.function)
	case "channel", "logger", "logger_name", "name", "log.logger":
		return r.dec.Set(&d.Context.Logger)
	case "hostname", "host", "host.name":
		return r.dec.Set(&d.Context.ServerName)
	case "trace_id", "traceId", "trace.id":
		return r.dec.Set(&d.Context.TraceID)
	case "span_id", "spanId", "span.id":
		return r.dec.Set(&d.Context.SpanID)
	case "context":
		return r.context()
	case "log":
		return lenient.Object(&r.dec, r, (*record).field)
	default:
		return r.dec.Skip()
	}
}

// text reads a text, unless the field has one already.
func (r *record) text(to *string) error {
	if *to != "" {
		return r.dec.Skip()
	}
	return r.dec.Set(to)
}

// when reads a time: a text, a number, or a DateTime of PHP:
// {"date": "2026-11-21 03:58:25.000000", "timezone": "Europe/Berlin"}.
func (r *record) when() error {
	if r.dec.Next() != jx.Object {
		return r.text(&r.time)
	}
	return lenient.Object(&r.dec, r, func(r *record, key []byte) error {
		switch string(key) {
		case "date":
			return r.dec.Set(&r.time)
		case "timezone":
			return r.dec.Set(&r.zone)
		default:
			return r.dec.Skip()
		}
	})
}

// place reads "dir/file.go:12", a file alone, or slog's {function, file, line}.
func (r *record) place() error {
	if r.dec.Next() == jx.Object {
		return lenient.Object(&r.dec, r, func(r *record, key []byte) error {
			switch string(key) {
			case "file":
				return r.place()
			case "line":
				return setLine(&r.dec, &r.line)
			case "function":
				return r.dec.Set(&r.function)
			default:
				return r.dec.Skip()
			}
		})
	}
	var text string
	err := r.dec.Set(&text)
	if text != "" && r.file == "" {
		file, line := splitPlace(text)
		r.file = file
		if line > 0 {
			r.line = line
		}
	}
	return err
}

// setLine reads the number of a line; what is not above 0 is none.
func setLine(dec *lenient.Reader, to *int64) error {
	n, err := dec.Int()
	if n > 0 {
		*to = n
	}
	return err
}

// trace reads a stack trace: a text, or an array with a text for each frame.
func (r *record) trace() error {
	if r.dec.Next() != jx.Array {
		return r.text(&r.stack)
	}
	lines, err := joined(&r.dec)
	r.stack = cmp.Or(r.stack, lines)
	return err
}

// context reads the exception of Monolog's context and keeps the rest.
func (r *record) context() error {
	if r.dec.Next() != jx.Object {
		return r.dec.Skip()
	}
	raw, err := r.dec.Raw()
	if err != nil {
		return err
	}
	readContext(bytes.TrimSpace(raw), &r.draft)
	r.extra = r.draft.Context.Extra
	if len(r.chain) == 0 {
		r.chain = r.draft.Context.Exceptions
	}
	if r.file == "" {
		r.file, r.line = r.draft.File, r.draft.Line
	}
	r.class = cmp.Or(r.class, r.draft.Class)
	return nil
}

// splitPlace splits "file:12" and "file:12:3".
func splitPlace(text string) (file string, line int64) {
	for range 2 {
		before, number, ok := cutLast(text, ":")
		n := lenient.ParseInt([]byte(number))
		if !ok || n <= 0 {
			break
		}
		text, line = before, n
	}
	return text, line
}
