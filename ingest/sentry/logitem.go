package sentry

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/go-faster/jx"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/lenient"
	"github.com/errata-log/errata/ingest/stacktrace"
	"github.com/errata-log/errata/origin"
)

// addLogs reads a container of log items and keeps those of level error and
// above. SDKs that log instead of capturing send nothing else.
func (in *intake) addLogs(payload []byte) error {
	const complaint = "the log item is not valid JSON"
	d := jx.DecodeBytes(payload)
	if d.Next() != jx.Object {
		return malformed("the log item is not a JSON object", nil)
	}
	var refused error // by our own limits, not by the JSON
	err := lenient.Object(d, d, func(d *jx.Decoder, key []byte) error {
		if string(key) != "items" {
			return d.Skip()
		}
		return lenient.Array(d, d, func(d *jx.Decoder) error {
			raw, err := d.Raw()
			if err == nil && refused == nil {
				refused = in.addLog(bytes.TrimSpace(raw))
			}
			return err
		})
	})
	if err == nil && !lenient.AtEnd(d) {
		return malformed(complaint, nil)
	}
	if err != nil {
		return malformed(complaint, err)
	}
	return refused
}

// addLog keeps one log item if it is an error. Its id is made of its bytes,
// and of its place among equal ones, because items carry none.
func (in *intake) addLog(raw []byte) error {
	l := logItem{dec: jx.DecodeBytes(raw)}
	if err := lenient.Object(l.dec, &l, (*logItem).field); err != nil {
		return malformed("a log is not valid JSON", err) // cannot be: raw has been validated
	}
	draft, ok := l.finish()
	if !ok {
		return nil
	}
	if err := in.hold(len(raw)); err != nil {
		return err
	}
	sum := sha256.Sum256(raw)
	content := [16]byte(sum[:16])
	if in.logs == nil {
		in.logs = map[[16]byte]uint64{}
	}
	ordinal := in.logs[content]
	in.logs[content]++
	draft.ClientID = "sl-" + hex.EncodeToString(content[:])
	if ordinal > 0 {
		again := sha256.Sum256(binary.AppendUvarint(content[:], ordinal))
		draft.ClientID = "sl-" + hex.EncodeToString(again[:16])
	}
	draft.SentAt = in.sentAt
	return in.add(draft)
}

// logItem reads one log.
type logItem struct {
	dec      *jx.Decoder
	draft    ingest.Draft
	severity int64

	exceptionMessage, trace string
	path, query, url        string
	sdk                     named

	name  []byte // of the attribute being read
	value []byte
}

func (l *logItem) field(key []byte) (err error) {
	d := &l.draft
	switch string(key) {
	case "timestamp":
		text, err := lenient.Text(l.dec)
		d.Time, _ = lenient.Time(text)
		return err
	case "level":
		text, err := lenient.Bytes(l.dec)
		d.Level = levelOf(text)
		return err
	case "severity_number":
		l.severity, err = lenient.Int(l.dec)
		return err
	case "body":
		return lenient.Set(l.dec, &d.Message)
	case "trace_id":
		return lenient.Set(l.dec, &d.Context.TraceID)
	case "span_id":
		return lenient.Set(l.dec, &d.Context.SpanID)
	case "attributes":
		return lenient.Object(l.dec, l, (*logItem).attribute)
	default:
		return l.dec.Skip()
	}
}

// attribute reads {"value":…,"type":…}, or the bare value.
func (l *logItem) attribute(name []byte) (err error) {
	l.name, l.value = name, nil
	if l.dec.Next() == jx.Object {
		err = lenient.Object(l.dec, l, func(l *logItem, key []byte) (err error) {
			if string(key) != "value" {
				return l.dec.Skip()
			}
			l.value, err = lenient.Bytes(l.dec)
			return err
		})
	} else {
		l.value, err = lenient.Bytes(l.dec)
	}
	if err == nil && len(l.value) > 0 {
		l.keep(string(name), string(l.value))
	}
	return err
}

// keep puts an attribute where it belongs; what has no place is a tag.
func (l *logItem) keep(name, value string) {
	d, c := &l.draft, &l.draft.Context
	switch name {
	case "code.file.path", "code.filepath", "source.file":
		d.File = value
	case "code.line.number", "code.lineno", "source.line":
		d.Line = lenient.ParseInt([]byte(value))
	case "sentry.message.template":
		d.Template = value
	case "exception.type":
		d.Class = value
	case "exception.message":
		l.exceptionMessage = value
	case "exception.stacktrace":
		l.trace = value
	case "sentry.release":
		c.Release = value
	case "sentry.environment":
		c.Environment = value
	case "server.address", "sentry.server.address":
		c.ServerName = value
	case "sentry.sdk.name":
		l.sdk.name = []byte(value)
	case "sentry.sdk.version":
		l.sdk.version = []byte(value)
	case "sentry.trace.parent_span_id":
		c.SpanID = value
	case "user.id":
		d.UserID = value
	case "http.request.method":
		d.Method = strings.ToUpper(value)
	case "client.address":
		d.IP = origin.ParseAddr(value)
	case "url.full":
		l.url = value
	case "url.path":
		l.path = value
	case "url.query":
		l.query = value
	default:
		l.tag(name, value)
	}
}

func (l *logItem) tag(name, value string) {
	if name == "book" || name == "error.book" {
		l.draft.Book, _ = errata.ParseBook(value)
	}
	// Parameters stand in the message already; the rest is the SDK's own.
	if strings.HasPrefix(name, "sentry.") || len(l.draft.Context.Tags) >= ingest.MaxTags {
		return
	}
	l.draft.Context.Tags = append(l.draft.Context.Tags, ingest.Pair{Key: name, Value: value})
}

// severityError is the first severity number of level error, severityFatal
// that of level fatal, as OpenTelemetry counts.
const severityError, severityFatal = 17, 21

// finish completes the draft. ok is false when the log is no error.
func (l *logItem) finish() (ingest.Draft, bool) {
	d, c := &l.draft, &l.draft.Context
	if d.Level == errata.LevelUnknown && l.severity >= severityError {
		if d.Level = errata.LevelError; l.severity >= severityFatal {
			d.Level = errata.LevelFatal
		}
	}
	if d.Level < errata.LevelError {
		return ingest.Draft{}, false
	}
	c.Source = "sentry-log"
	c.SDK = l.sdk.join("/")
	if d.Message == "" {
		d.Message = l.exceptionMessage
	}
	if d.URI = l.url; d.URI == "" && l.path != "" {
		if d.URI = l.path; l.query != "" {
			d.URI += "?" + strings.TrimPrefix(l.query, "?")
		}
	}
	l.finishTrace()
	return *d, true
}

// finishTrace reads the stack trace of a logged exception, and the place from
// it when the log does not say where it was written.
func (l *logItem) finishTrace() {
	d := &l.draft
	if d.Class == "" && l.trace == "" {
		return
	}
	frames, at := stacktrace.Parse(l.trace)
	d.Context.Exceptions = []ingest.Exception{{Class: d.Class, Message: l.exceptionMessage, Frames: frames}}
	if d.File == "" {
		d.File, d.Line = at.File, at.Line
	}
}
