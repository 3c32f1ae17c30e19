package ingest

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/go-faster/jx"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest/lenient"
	"github.com/errata-log/errata/projects"
)

// payload is the context of an event: one JSON object. Fields without a value are left
// out:
//
//	{"source": "sentry", "event_id": "…", "message": "the whole message", "log": "the log's text beside an exception",
//	 "exceptions": [{"class": "…", "message": "…", "module": "…",
//	     "mechanism": "onerror", "id": 2, "parent": 0, "group": true, "frames": [
//	     {"file": "…", "line": 7, "column": 5, "function": "…", "module": "…", "in_app": true, "args": ["string(12)"],
//	      "pre": ["…"], "context": "the line", "post": ["…"], "vars": {"name": "string(12)"}}]}],
//	 "handled": true, "user": "u-77",
//	 "request": {"headers": {"User-Agent": "…"}}, "tags": {"feature": "checkout"},
//	 "release": "…", "environment": "…", "server_name": "…", "platform": "…", "sdk": "…", "runtime": "…",
//	 "os": "…", "trace_id": "…", "span_id": "…", "transaction": "…", "logger": "…",
//	 "breadcrumbs": [{"time": "2026-01-02T03:04:05.678Z", "type": "http", "category": "…", "level": "info",
//	     "message": "…", "data": {…}}],
//	 "contexts": {"device": {…}}, "extra": {…},
//	 "truncated": ["frames"]}
//
// The oldest cause, the oldest call and the oldest breadcrumb stand first. Only frames of
// the application have pre, context, post and vars; the values of vars are shapes, or
// texts where the project keeps values. "id" and "parent" are those of exceptions in a
// tree, of which "group" stands for several.
//
// "truncated" names what is not complete: a message over MaxMessage; exceptions, frames,
// tags, breadcrumbs, contexts, extra and vars over their limits; or parts of a payload over
// MaxContext. A payload that is too large loses first extra and contexts, then the data of
// breadcrumbs, then breadcrumbs, then source lines and vars, named "source"; then frames
// from the middle, then the ends of the exceptions' messages, then the causes, frames and
// tags. A text that was cut ends in "…". The thrown exception may repeat only the beginning
// of "message".
func (w *workshop) payload(r *Rules, d *Draft, e *errata.Event, message cutText, keep projects.Context) []byte {
	w.parts.make(r, d, keep)
	p := payloadWriter{Writer: &w.out, rules: r, parts: &w.parts, said: &w.said}
	for i := range shares {
		p.share = shares[i]
		over := p.write(d, e, message)
		if over > 0 && i == 0 && w.parts.drop(over) {
			over = p.write(d, e, message)
		}
		if over <= 0 {
			break
		}
	}
	return w.copied(w.out.Buf)
}

// share is how much of a draft a payload holds beside its parts.
type share struct {
	tags       bool
	exceptions int
	frames     int // per exception
	text       int // bytes of an exception's message
}

// shares begin with everything and end with what always fits: the thrown exception
// and some short fields, less than 32 KiB when every byte is escaped.
var shares = [...]share{
	{tags: true, exceptions: MaxExceptions, frames: MaxFrames, text: MaxCause},
	{tags: true, exceptions: MaxExceptions, frames: 10, text: MaxCause},
	{tags: true, exceptions: MaxExceptions, frames: 10, text: 1024},
	{exceptions: 1, text: 1024},
}

// workshop has the memory in which payloads are made, one after another.
type workshop struct {
	out      jx.Writer
	parts    parts
	said     texts
	tags     []errata.Tag
	tagLists lenient.Slab[errata.Tag]
	chunk    []byte // for payloads that are done
}

// workshops keep their memory: a payload is copied out at its true size.
var workshops = sync.Pool{New: func() any { return &workshop{tagLists: lenient.Slab[errata.Tag]{Size: 128}} }}

// chunkSize is how many bytes are allocated for payloads at once: those of some events. A
// payload that stays in memory keeps its whole chunk there.
const chunkSize = 16 << 10

// copied is a copy of the payload.
func (w *workshop) copied(payload []byte) []byte {
	if len(payload) > chunkSize/4 {
		return bytes.Clone(payload)
	}
	if cap(w.chunk)-len(w.chunk) < len(payload) {
		w.chunk = make([]byte, 0, chunkSize)
	}
	from := len(w.chunk)
	w.chunk = append(w.chunk, payload...)
	return w.chunk[from:len(w.chunk):len(w.chunk)]
}

// payloadWriter writes one JSON object, member by member.
type payloadWriter struct {
	*jx.Writer
	rules  *Rules
	parts  *parts
	said   *texts
	share  share
	cut    []string // the members of "truncated"
	whole  string   // the message
	asSent bool     // the message is what the sender wrote
}

// next begins a member or an element, with a comma unless it is the first one.
func (p *payloadWriter) next() { next(p.Writer) }

func next(w *jx.Writer) {
	if last := w.Buf[len(w.Buf)-1]; last != '{' && last != '[' {
		w.Comma()
	}
}

// name begins a member with a constant key, which needs no escapes. A frame has five.
func (p *payloadWriter) name(key string) { name(p.Writer, key) }

func name(w *jx.Writer, key string) {
	next(w)
	b := w.Buf
	b = append(b, '"')
	b = append(b, key...)
	b = append(b, '"', ':')
	w.Buf = b
}

// text writes a member unless it is empty: one line, scrubbed, cut.
func (p *payloadWriter) text(key, value string, limit int) {
	if value == "" {
		return
	}
	p.name(key)
	p.Str(p.rules.Text(value, limit, false))
}

// clean writes a member whose text is clean already.
func (p *payloadWriter) clean(key, value string) {
	if value != "" {
		p.name(key)
		p.Str(value)
	}
}

// object writes a member that is an object.
func (p *payloadWriter) object(key string, members func()) {
	p.name(key)
	p.ObjStart()
	members()
	p.ObjEnd()
}

// list writes a member that is a list. elements calls next for each element.
func (p *payloadWriter) list(key string, elements func()) {
	p.name(key)
	p.ArrStart()
	elements()
	p.ArrEnd()
}

// truncated remembers that a member is not complete.
func (p *payloadWriter) truncated(key string) {
	if !slices.Contains(p.cut, key) {
		p.cut = append(p.cut, key)
	}
}

// write writes the payload, and returns how many bytes it is over its limit.
func (p *payloadWriter) write(d *Draft, e *errata.Event, message cutText) (over int) {
	p.Reset()
	p.cut = p.cut[:0]
	c := &d.Context
	p.ObjStart()
	p.text("source", c.Source, MaxTag)
	p.clean("event_id", p.said.clientID)
	before := len(p.Buf)
	p.head(message)
	p.asSent = message.text == messageOf(d)
	free := len(p.Buf) - before // the message does not count
	p.exceptions(c.Exceptions)
	p.log(c.Log)
	if c.Handled != nil {
		p.name("handled")
		p.Bool(*c.Handled)
	}
	if e.UserID == 0 {
		p.clean("user", p.said.user)
	}
	p.headers(c.Headers)
	p.tags()
	p.clean("release", e.Release)
	p.clean("environment", e.Environment)
	p.clean("server_name", p.said.server)
	p.text("platform", c.Platform, MaxName)
	p.text("sdk", c.SDK, MaxName)
	p.text("runtime", c.Runtime, MaxName)
	p.text("os", c.OS, MaxName)
	p.clean("trace_id", p.said.traceID)
	p.text("span_id", c.SpanID, MaxName)
	p.clean("transaction", p.said.transaction)
	p.text("logger", c.Logger, MaxName)
	p.breadcrumbs()
	p.part("contexts", p.parts.contexts)
	p.part("extra", p.parts.extra)
	for _, key := range p.parts.lost {
		p.truncated(key)
	}
	if len(p.cut) > 0 {
		p.list("truncated", func() {
			for _, key := range p.cut {
				p.next()
				p.Str(key)
			}
		})
	}
	p.ObjEnd()
	return len(p.Buf) - free - MaxContext
}

// head writes the message of the event.
func (p *payloadWriter) head(message cutText) {
	if message.text == "" {
		return
	}
	p.name("message")
	p.Str(message.text)
	p.whole = message.text
	if message.cut {
		p.truncated("message")
	}
}

func (p *payloadWriter) headers(headers []Pair) {
	kept := p.parts.headers[:0]
	for _, h := range headers {
		name, value, ok := p.rules.header(h)
		if ok && value != "" && !hasKey(kept, name) {
			kept = append(kept, Pair{name, value})
		}
	}
	p.parts.headers = kept
	if len(kept) == 0 {
		return
	}
	p.object("request", func() {
		p.object("headers", func() {
			for _, h := range kept {
				p.text(h.Key, h.Value, MaxName)
			}
		})
	})
}

func hasKey(pairs []Pair, key string) bool {
	return slices.ContainsFunc(pairs, func(p Pair) bool { return p.Key == key })
}

// tags writes the sender's tags.
func (p *payloadWriter) tags() {
	if p.said.moreTags || !p.share.tags && len(p.said.tags) > 0 {
		p.truncated("tags")
	}
	if !p.share.tags || len(p.said.tags) == 0 {
		return
	}
	p.object("tags", func() {
		for _, tag := range p.said.tags {
			p.next()
			p.FieldStart(tag.Key)
			p.Str(tag.Value)
		}
	})
}

// repeats says whether the text that was cut is the beginning of the message.
func (p *payloadWriter) repeats(cut string) bool {
	return strings.HasPrefix(p.whole, strings.TrimSuffix(cut, mark))
}
