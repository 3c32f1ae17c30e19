package native

import (
	"bytes"
	"strings"
	"sync"

	"github.com/go-faster/jx"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/lenient"
	"github.com/errata-log/errata/ingest/stacktrace"
	"github.com/errata-log/errata/origin"
)

// maxID bounds an event's id.
const maxID = 64

// parser reads one event.
type parser struct {
	dec     lenient.Reader
	keep    *lenient.Keeper
	lists   *lists
	draft   ingest.Draft
	trace   stacktrace.Trace
	frame   ingest.Frame
	around  ingest.Around
	crumb   ingest.Breadcrumb
	refused *errata.Error // the first reason to reject the event
}

// lists has the memory of the lists of drafts.
type lists struct {
	exceptions lenient.Slab[ingest.Exception]
	bytes      lenient.Slab[byte]
}

var parsers = sync.Pool{New: func() any {
	return &parser{keep: new(lenient.Keeper), trace: stacktrace.Reused(), lists: &lists{
		exceptions: lenient.Slab[ingest.Exception]{Size: 32}, bytes: lenient.Slab[byte]{Size: 4 << 10},
	}}
}}

// ParseEvent reads one event as POST /api/v1/events takes it. The error is an
// *errata.Error: invalid_body for broken JSON, another kind for an event that
// cannot be taken.
func ParseEvent(document []byte) (ingest.Draft, error) {
	if refused := checkShape(document); refused != nil {
		return ingest.Draft{}, refused
	}
	p := parsers.Get().(*parser)
	defer p.free()
	p.dec.Reset(document)
	isObject := p.dec.Next() == jx.Object
	if err := lenient.Object(&p.dec, p, (*parser).field); err != nil {
		return ingest.Draft{}, door.Malformed("the event is not valid JSON")
	}
	if !p.dec.AtEnd() {
		return ingest.Draft{}, door.Malformed("there is more after the event")
	}
	if !isObject {
		return ingest.Draft{}, errata.Errorf(errata.KindInvalidEvent, "the event is not a JSON object")
	}
	p.finish()
	if p.refused != nil {
		return ingest.Draft{}, p.refused
	}
	return p.draft, nil
}

func (p *parser) free() {
	p.trace.Clear()
	p.dec.Reset(nil)
	*p = parser{dec: p.dec, keep: p.keep, lists: p.lists, trace: p.trace}
	parsers.Put(p)
}

func (p *parser) refuse(kind errata.Kind, format string, args ...any) {
	if p.refused == nil {
		p.refused = errata.Errorf(kind, format, args...)
	}
}

// field reads one key of the event.
func (p *parser) field(key []byte) error {
	d := &p.draft
	switch string(key) {
	case "id":
		return p.scalar("id", &d.ClientID)
	case "time":
		var text string
		err := p.scalar("time", &text)
		d.SetTime(text)
		return err
	case "type":
		return p.book()
	case "level":
		return p.level()
	case "message":
		return p.message("message", &d.Message)
	case "template":
		return p.message("template", &d.Template)
	case "exception_class":
		return p.text("exception_class", &d.Class)
	case "file":
		return p.text("file", &d.File)
	case "line":
		return p.line()
	case "request_uri":
		return p.text("request_uri", &d.URI)
	case "request_method":
		return p.text("request_method", &d.Method)
	case "user_id":
		return p.scalar("user_id", &d.UserID)
	case "ip":
		var text string
		err := p.text("ip", &text)
		d.IP = origin.ParseAddr(text)
		return err
	case "fingerprint":
		return p.fingerprint()
	case "frames":
		return p.frames()
	case "payload":
		return p.payload()
	case "release":
		return p.set(&d.Context.Release)
	case "environment":
		return p.set(&d.Context.Environment)
	case "tags":
		return p.tags()
	default:
		return p.contextField(key)
	}
}

// contextField reads a key about what was around the error.
func (p *parser) contextField(key []byte) error {
	c := &p.draft.Context
	switch string(key) {
	case "server_name":
		return p.set(&c.ServerName)
	case "transaction":
		return p.set(&c.Transaction)
	case "trace_id":
		return p.set(&c.TraceID)
	case "span_id":
		return p.set(&c.SpanID)
	case "contexts":
		return p.contexts()
	case "breadcrumbs":
		return p.breadcrumbs()
	default:
		return p.dec.Skip()
	}
}

// text reads a string. null is absent; any other type rejects the event.
func (p *parser) text(name string, to *string) error {
	if t := p.dec.Next(); t != jx.String && t != jx.Null {
		p.refuse(errata.KindInvalidEvent, "%s must be a string", name)
		return p.dec.Skip()
	}
	return p.set(to)
}

// message is text for the message of an error, which may be long.
func (p *parser) message(name string, to *string) error {
	if p.dec.Next() != jx.String {
		return p.text(name, to)
	}
	text, err := p.dec.Message()
	*to = p.keep.String(text)
	return err
}

func (p *parser) set(to *string) error {
	text, err := p.dec.Bytes()
	*to = p.keep.String(text)
	return err
}

// scalar reads a string or a number as text.
func (p *parser) scalar(name string, to *string) error {
	if p.dec.Next() != jx.Number {
		return p.text(name, to)
	}
	return p.set(to)
}

func (p *parser) book() error {
	var name string
	err := p.text("type", &name)
	var ok bool
	if p.draft.Book, ok = errata.ParseBook(name); !ok && name != "" {
		p.refuse(errata.KindInvalidType, "type must be system or database")
	}
	return err
}

func (p *parser) level() error {
	var name string
	err := p.text("level", &name)
	var ok bool
	if p.draft.Level, ok = errata.ParseLevel(name); !ok && name != "" {
		p.refuse(errata.KindInvalidLevel, "level must be one of %s", strings.Join(errata.Levels, ", "))
	}
	return err
}

// line reads a line number; PHP and shells send it as a string.
func (p *parser) line() error {
	var text string
	err := p.scalar("line", &text)
	p.draft.Line = lenient.ParseInt([]byte(text))
	if p.draft.Line < 0 || p.draft.Line == 0 && strings.Trim(text, "0") != "" {
		p.refuse(errata.KindInvalidEvent, "line must be a whole number, 0 or more")
	}
	return err
}

func (p *parser) fingerprint() error {
	p.draft.Fingerprint = nil
	if t := p.dec.Next(); t != jx.Array && t != jx.Null {
		p.refuse(errata.KindInvalidEvent, "fingerprint must be an array of strings")
	}
	return lenient.Array(&p.dec, p, func(p *parser) error {
		var part string
		err := p.scalar("fingerprint", &part)
		if part != "" && len(p.draft.Fingerprint) < ingest.MaxFingerprint {
			p.draft.Fingerprint = append(p.draft.Fingerprint, part)
		}
		return err
	})
}

func (p *parser) payload() error {
	p.draft.Context.Extra = nil
	switch p.dec.Next() {
	case jx.Null:
		return p.dec.Skip()
	case jx.Object:
		raw, err := p.dec.Raw()
		p.draft.Context.Extra, p.draft.Context.ExtraWhole = p.lists.bytes.Copy(bytes.TrimSpace(raw)), true
		return err
	default:
		p.refuse(errata.KindInvalidEvent, "payload must be an object")
		return p.dec.Skip()
	}
}

// tags reads an object of texts, numbers and booleans. Other values are left out.
func (p *parser) tags() error {
	p.draft.Context.Tags = nil
	return lenient.Object(&p.dec, p, func(p *parser, key []byte) error {
		value, err := p.dec.Bytes()
		tags := &p.draft.Context.Tags
		if value != nil && len(*tags) <= ingest.MaxTags { // one too many, so that the payload says that there were more
			key = lenient.Cut(key, lenient.MaxText)
			*tags = append(*tags, ingest.Pair{Key: p.keep.String(key), Value: p.keep.String(value)})
		}
		return err
	})
}

// fillFromPayload takes release and environment out of the payload when the event
// itself does not have them: before they were fields of the event, senders could put
// them only there, and the Go client still does.
func (p *parser) fillFromPayload() {
	c := &p.draft.Context
	release := c.Release == "" && bytes.Contains(c.Extra, []byte(`"release"`))
	environment := c.Environment == "" && bytes.Contains(c.Extra, []byte(`"environment"`))
	if !release && !environment {
		return
	}
	own := lenient.Read(c.Extra) // it is whole JSON, or the event would have been refused
	_ = lenient.Object(own, p, func(_ *parser, key []byte) error {
		switch {
		case release && string(key) == "release":
			return own.Set(&c.Release)
		case environment && string(key) == "environment":
			return own.Set(&c.Environment)
		default:
			return own.Skip()
		}
	})
}

// finish checks and fills the fields that depend on several others.
func (p *parser) finish() {
	d := &p.draft
	d.Context.Source = "native"
	p.fillFromPayload()
	d.Method = strings.ToUpper(d.Method)
	if len(d.ClientID) > maxID {
		p.refuse(errata.KindInvalidEvent, "id must have at most %d bytes", maxID)
	}
	if strings.TrimSpace(d.Message) == "" && strings.TrimSpace(d.Class) == "" {
		p.refuse(errata.KindInvalidEvent, "message or exception_class is needed")
	}
	if at := p.trace.Place(); d.File == "" && at.Known {
		d.File, d.Line, d.PlacedBy = at.File, at.Line, at.By()
	}
	if frames := p.trace.Frames(); d.Class != "" || len(frames) > 0 {
		d.Context.Exceptions = p.lists.exceptions.Copy([]ingest.Exception{{Class: d.Class, Message: d.Message, Frames: frames}})
	}
}
