package ingest

import (
	"bytes"
	"sync"

	"github.com/go-faster/jx"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest/scrub"
)

// payload is the context that a record keeps of its first sighting, one JSON
// object. Fields without a value are left out:
//
//	{"source": "sentry", "event_id": "…", "message": "the whole message",
//	 "exceptions": [{"class": "…", "message": "…", "module": "…", "frames": [
//	     {"file": "…", "line": 7, "function": "…", "module": "…", "in_app": true, "args": ["string(12)"]}]}],
//	 "handled": true, "user": "u-77",
//	 "request": {"headers": {"User-Agent": "…"}}, "tags": {"feature": "checkout"},
//	 "release": "…", "environment": "…", "server_name": "…", "platform": "…", "sdk": "…", "runtime": "…",
//	 "os": "…", "trace_id": "…", "span_id": "…", "transaction": "…", "logger": "…", "extra": {…}}
//
//	"truncated": ["frames"]}
//
// Exceptions stand oldest cause first, frames oldest call first. "truncated"
// names what was left out because it was too much: exceptions, frames and tags
// over their limits, and where the whole would exceed MaxPayload first extra,
// then frames from the middle, then the ends of long messages, then the
// causes, frames and tags. A text that was cut ends in "…".
func (r *Rules) payload(d *Draft, e *errata.Event, message string) []byte {
	w := payloadWriters.Get().(*jx.Writer) // the pool holds nothing else
	defer payloadWriters.Put(w)
	for _, share := range shares {
		w.Reset()
		p := payloadWriter{Writer: w, rules: r, share: share}
		p.write(d, e, message)
		if len(w.Buf) <= MaxPayload {
			break
		}
	}
	return bytes.Clone(w.Buf)
}

// share is how much of a draft a payload holds.
type share struct {
	extra, tags bool
	exceptions  int
	frames      int // per exception
	text        int // bytes of an exception's message
}

// shares go from all to what fits for sure: the last one has the message, the
// thrown exception and a few short fields, less than 48 KiB when every byte of
// them is escaped.
var shares = [...]share{
	{extra: true, tags: true, exceptions: MaxExceptions, frames: MaxFrames, text: MaxMessage},
	{tags: true, exceptions: MaxExceptions, frames: MaxFrames, text: MaxMessage},
	{tags: true, exceptions: MaxExceptions, frames: 10, text: MaxMessage},
	{tags: true, exceptions: MaxExceptions, frames: 10, text: 1024},
	{exceptions: 1, text: 1024},
}

// payloadWriters keep their buffers: a payload is copied out at its true size.
var payloadWriters = sync.Pool{New: func() any { return new(jx.Writer) }}

// payloadWriter writes one JSON object, member by member.
type payloadWriter struct {
	*jx.Writer
	rules  *Rules
	share  share
	inside bool // a member was written
	// What was left out.
	cutExtra, cutExceptions, cutFrames, cutTags bool
}

// name begins a member whose key is ours: it needs no escapes, and there are
// five of them in each frame.
func (p *payloadWriter) name(key string) {
	b := p.Buf
	if p.inside {
		b = append(b, ',')
	}
	b = append(b, '"')
	b = append(b, key...)
	b = append(b, '"', ':')
	p.Buf = b
	p.inside = true
}

// text writes a member of ours unless it is empty: one line, scrubbed, cut.
func (p *payloadWriter) text(key, value string, limit int) {
	if value == "" {
		return
	}
	p.name(key)
	p.Str(p.rules.Text(value, limit, false))
}

// object writes a member that is an object.
func (p *payloadWriter) object(key string, members func()) {
	p.name(key)
	p.ObjStart()
	p.inside = false
	members()
	p.ObjEnd()
	p.inside = true
}

func (p *payloadWriter) write(d *Draft, e *errata.Event, message string) {
	c := &d.Context
	p.ObjStart()
	p.text("source", c.Source, MaxTag)
	p.text("event_id", d.ClientID, MaxTag)
	if message != "" {
		p.name("message")
		p.Str(message)
	}
	p.exceptions(c.Exceptions)
	if c.Handled != nil {
		p.name("handled")
		p.Bool(*c.Handled)
	}
	if e.UserID == 0 {
		p.text("user", d.UserID, MaxTag)
	}
	p.headers(c.Headers)
	p.tags(c.Tags)
	for _, member := range [...]struct {
		key, value string
	}{
		{"release", c.Release}, {"environment", c.Environment}, {"server_name", c.ServerName},
		{"platform", c.Platform}, {"sdk", c.SDK}, {"runtime", c.Runtime}, {"os", c.OS},
		{"trace_id", c.TraceID}, {"span_id", c.SpanID}, {"transaction", c.Transaction}, {"logger", c.Logger},
	} {
		p.text(member.key, member.value, MaxName)
	}
	p.extra(c.Extra)
	p.truncated()
	p.ObjEnd()
}

// extra writes the application's own object, if there is room and it is one.
func (p *payloadWriter) extra(extra []byte) {
	if len(extra) == 0 {
		return
	}
	if p.share.extra && len(extra) <= 2*MaxPayload {
		if kept, err := p.rules.Scrubber.JSON(extra); err == nil {
			p.name("extra")
			p.Raw(kept)
			return
		}
	}
	p.cutExtra = true
}

func (p *payloadWriter) truncated() {
	names := [...]struct {
		name string
		cut  bool
	}{{"exceptions", p.cutExceptions}, {"frames", p.cutFrames}, {"tags", p.cutTags}, {"extra", p.cutExtra}}
	written := 0
	for _, n := range names {
		if !n.cut {
			continue
		}
		if written == 0 {
			p.name("truncated")
			p.ArrStart()
		} else {
			p.Comma()
		}
		written++
		p.Str(n.name)
	}
	if written > 0 {
		p.ArrEnd()
	}
}

func (p *payloadWriter) headers(headers []Pair) {
	kept := p.rules.keepHeaders(headers)
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

// tags writes the sender's tags, each key once. A key may name a secret or be one.
func (p *payloadWriter) tags(tags []Pair) {
	if len(tags) == 0 {
		return
	}
	kept := tags[:min(len(tags), MaxTags)]
	if p.cutTags = len(kept) < len(tags) || !p.share.tags; !p.share.tags {
		return
	}
	p.object("tags", func() {
		for i, tag := range kept {
			if tag.Value == "" || contains(kept[:i], tag.Key) {
				continue
			}
			if p.rules.Scrubber.SecretKey(tag.Key) {
				tag.Value = scrub.Filtered
			}
			if p.inside {
				p.Comma()
			}
			p.inside = true
			p.FieldStart(p.rules.Text(tag.Key, MaxTag, false))
			p.Str(p.rules.Text(tag.Value, MaxTag, false))
		}
	})
}

func (p *payloadWriter) exceptions(chain []Exception) {
	if len(chain) == 0 {
		return
	}
	// The thrown one stands last and matters most.
	first := max(0, len(chain)-p.share.exceptions)
	p.cutExceptions = first > 0
	p.name("exceptions")
	p.ArrStart()
	for i := range chain[first:] {
		if i > 0 {
			p.Comma()
		}
		p.exception(&chain[first+i])
	}
	p.ArrEnd()
	p.inside = true
}

func (p *payloadWriter) exception(x *Exception) {
	p.inside = false
	p.ObjStart()
	p.text("class", x.Class, MaxClass)
	if x.Message != "" {
		p.name("message")
		p.Str(p.rules.Text(x.Message, p.share.text, true))
	}
	p.text("module", x.Module, MaxName)
	p.frames(x.Frames)
	p.ObjEnd()
}

// frames writes the frames, or the first and the last half of what there is
// room for.
func (p *payloadWriter) frames(frames []Frame) {
	limit := p.share.frames
	if len(frames) > limit {
		p.cutFrames = true
	}
	if len(frames) == 0 || limit == 0 {
		return
	}
	p.name("frames")
	p.ArrStart()
	for i := range frames {
		if len(frames) > limit && i >= limit/2 && i < len(frames)-limit/2 {
			continue
		}
		if i > 0 {
			p.Comma()
		}
		p.frame(&frames[i])
	}
	p.ArrEnd()
	p.inside = true
}

func (p *payloadWriter) frame(f *Frame) {
	p.inside = false
	p.ObjStart()
	p.text("file", p.rules.relativeFile(f.File), MaxFile)
	if f.Line > 0 {
		p.name("line")
		p.Int64(f.Line)
	}
	p.text("function", f.Function, MaxName)
	p.text("module", f.Module, MaxName)
	p.name("in_app")
	p.Bool(f.InApp)
	if len(f.Args) > 0 {
		p.name("args")
		p.ArrStart()
		for i, arg := range f.Args[:min(len(f.Args), MaxFrameArgs)] {
			if i > 0 {
				p.Comma()
			}
			p.Str(shapeOf(arg))
		}
		p.ArrEnd()
	}
	p.ObjEnd()
}
