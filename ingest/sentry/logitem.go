package sentry

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/go-faster/jx"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/lenient"
	"github.com/errata-log/errata/ingest/otlp"
	"github.com/errata-log/errata/ingest/stacktrace"
	"github.com/errata-log/errata/origin"
)

// addLogs reads a container of logs and keeps those of level error and above.
// An SDK that logs its errors and does not capture them sends nothing else.
func (in *intake) addLogs(payload []byte) error {
	const complaint = "the log item is not valid JSON"
	d := lenient.Read(payload)
	if d.Next() != jx.Object {
		return malformed("the log item is not a JSON object", nil)
	}
	var refused error // by our limits, not for its JSON
	err := lenient.Object(d, d, func(d *lenient.Reader, key []byte) error {
		if string(key) != "items" {
			return d.Skip()
		}
		return lenient.Array(d, d, func(d *lenient.Reader) error {
			raw, err := d.Raw()
			if err == nil && refused == nil {
				refused = in.addLog(bytes.TrimSpace(raw))
			}
			return err
		})
	})
	if err == nil && !d.AtEnd() {
		return malformed(complaint, nil)
	}
	if err != nil {
		return malformed(complaint, err)
	}
	return refused
}

// addLog keeps a log if it is an error. Logs have no ids, so its id is made of
// its bytes and of its number among equal logs.
func (in *intake) addLog(raw []byte) error {
	l := logItem{dec: lenient.Read(raw)}
	if err := lenient.Object(l.dec, &l, (*logItem).field); err != nil {
		return malformed("a log is not valid JSON", err) // never: raw is valid
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
	if strings.HasPrefix(l.origin, byIntegration) {
		if in.byLogger == nil {
			in.byLogger = map[string]bool{}
		}
		in.byLogger[draft.ClientID] = true
	}
	return in.add(draft)
}

const (
	sourceLog = "sentry-log"
	// byIntegration begins the origin of a log that an integration made of a call to a
	// logger. A log that the application sends itself has another origin, or none.
	byIntegration = "auto.log."
)

// logItem reads one log.
type logItem struct {
	dec      *lenient.Reader
	draft    ingest.Draft
	severity int64

	said   otlp.Attributes
	sdk    named
	origin string

	name  []byte // of the attribute being read
	value []byte
}

func (l *logItem) field(key []byte) (err error) {
	d := &l.draft
	switch string(key) {
	case "timestamp":
		text, err := l.dec.Text()
		d.SetTime(text)
		return err
	case "level":
		text, err := l.dec.Bytes()
		d.Level = levelOf(text)
		return err
	case "severity_number":
		l.severity, err = l.dec.Int()
		return err
	case "body":
		return l.dec.SetMessage(&d.Message)
	case "trace_id":
		return l.dec.Set(&d.Context.TraceID)
	case "span_id":
		return l.dec.Set(&d.Context.SpanID)
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
			l.value, err = l.read()
			return err
		})
	} else {
		l.value, err = l.read()
	}
	if err == nil && len(l.value) > 0 {
		l.keep(string(name), string(l.value))
	}
	return err
}

// read reads the value of the attribute. A message may be long.
func (l *logItem) read() ([]byte, error) {
	if string(l.name) == otlp.MessageKey {
		return l.dec.Message()
	}
	return l.dec.Bytes()
}

// keep puts an attribute into its field. An attribute without a field is a tag.
func (l *logItem) keep(name, value string) {
	d, c := &l.draft, &l.draft.Context
	if to := l.said.Field(name); to != nil {
		*to = value
		return
	}
	switch name {
	case "code.filepath", "source.file":
		l.said.File = value
	case otlp.LineKey, "code.lineno", "source.line":
		d.Line = lenient.ParseInt([]byte(value))
	case "sentry.message.template":
		d.Template = value
	case "sentry.release":
		c.Release = value
	case "sentry.environment":
		c.Environment = value
	case "server.address", "sentry.server.address":
		c.ServerName = value
	case "logger.name":
		c.Logger = value
	case "sentry.origin":
		l.origin = value
	case "sentry.sdk.name":
		l.sdk.name = []byte(value)
	case "sentry.sdk.version":
		l.sdk.version = []byte(value)
	case "sentry.trace.parent_span_id":
		c.SpanID = value
	default:
		l.tag(name, value)
	}
}

func (l *logItem) tag(name, value string) {
	if name == "book" || name == "error.book" {
		l.draft.Book, _ = errata.ParseBook(value)
	}
	// These are parameters, which the message holds, and data of the SDK itself.
	if strings.HasPrefix(name, "sentry.") || len(l.draft.Context.Tags) >= ingest.MaxTags {
		return
	}
	l.draft.Context.Tags = append(l.draft.Context.Tags, ingest.Pair{Key: name, Value: value})
}

// finish completes the draft. ok is false when the log is no error.
func (l *logItem) finish() (ingest.Draft, bool) {
	d, c := &l.draft, &l.draft.Context
	if d.Level == errata.LevelUnknown && l.severity >= otlp.SeverityError {
		if d.Level = errata.LevelError; l.severity >= otlp.SeverityFatal {
			d.Level = errata.LevelFatal
		}
	}
	if d.Level < errata.LevelError {
		return ingest.Draft{}, false
	}
	c.Source = sourceLog
	c.SDK = string(l.sdk.join(nil, "/"))
	said := &l.said
	d.Message = cmp.Or(d.Message, said.Message)
	d.Class, d.File, d.UserID, d.Method = said.Class, said.File, said.User, strings.ToUpper(said.Method)
	d.IP = origin.ParseAddr(said.Client)
	d.URI = cmp.Or(said.URL, said.PathQuery())
	l.finishTrace()
	return *d, true
}

// finishTrace reads the stack trace of a logged exception. The place comes from
// it when the log has none.
func (l *logItem) finishTrace() {
	d := &l.draft
	if d.Class == "" && l.said.Trace == "" {
		return
	}
	frames, at := stacktrace.Parse(l.said.Trace)
	d.Context.Exceptions = stacktrace.Chain(l.said.Trace, ingest.Exception{Class: d.Class, Message: l.said.Message, Frames: frames})
	if d.File == "" {
		d.File, d.Line = at.File, at.Line
	}
}
