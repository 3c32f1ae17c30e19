package ingest

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/go-faster/jx"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest/scrub"
)

// payload is the context that a record keeps of its first event: one JSON object.
// Fields without a value are left out:
//
//	{"source": "sentry", "event_id": "…", "message": "the whole message",
//	 "exceptions": [{"class": "…", "message": "…", "module": "…", "frames": [
//	     {"file": "…", "line": 7, "function": "…", "module": "…", "in_app": true, "args": ["string(12)"]}]}],
//	 "handled": true, "user": "u-77",
//	 "request": {"headers": {"User-Agent": "…"}}, "tags": {"feature": "checkout"},
//	 "release": "…", "environment": "…", "server_name": "…", "platform": "…", "sdk": "…", "runtime": "…",
//	 "os": "…", "trace_id": "…", "span_id": "…", "transaction": "…", "logger": "…", "extra": {…},
//	 "truncated": ["frames"]}
//
// The oldest cause and the oldest call stand first. "truncated" names what is not
// complete: a message over MaxMessage, exceptions, frames and tags over their limits,
// or parts of a payload over MaxContext. A payload that is too large loses first
// extra, then frames from the middle, then the ends of the exceptions' messages, then
// the causes, frames and tags. A text that was cut ends in "…". The thrown exception
// may repeat only the beginning of "message".
func (r *Rules) payload(d *Draft, e *errata.Event, message cutText) []byte {
	w := payloadWriters.Get().(*jx.Writer) // the pool holds nothing else
	defer payloadWriters.Put(w)
	for _, share := range shares {
		w.Reset()
		p := payloadWriter{Writer: w, rules: r, share: share}
		p.write(d, e, message)
		if len(w.Buf)-p.message <= MaxContext {
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

// shares begin with everything and end with what always fits: the thrown exception
// and some short fields, less than 32 KiB when every byte is escaped.
var shares = [...]share{
	{extra: true, tags: true, exceptions: MaxExceptions, frames: MaxFrames, text: MaxCause},
	{tags: true, exceptions: MaxExceptions, frames: MaxFrames, text: MaxCause},
	{tags: true, exceptions: MaxExceptions, frames: 10, text: MaxCause},
	{tags: true, exceptions: MaxExceptions, frames: 10, text: 1024},
	{exceptions: 1, text: 1024},
}

// payloadWriters keep their buffers: a payload is copied out at its true size.
var payloadWriters = sync.Pool{New: func() any { return new(jx.Writer) }}

// payloadWriter writes one JSON object, member by member.
type payloadWriter struct {
	*jx.Writer
	rules   *Rules
	share   share
	cut     []string // the members of "truncated"
	whole   string   // the message
	message int      // bytes of the member "message"
}

// next begins a member or an element, with a comma unless it is the first one.
func (p *payloadWriter) next() {
	if last := p.Buf[len(p.Buf)-1]; last != '{' && last != '[' {
		p.Comma()
	}
}

// name begins a member with a constant key, which needs no escapes. A frame has five.
func (p *payloadWriter) name(key string) {
	p.next()
	b := p.Buf
	b = append(b, '"')
	b = append(b, key...)
	b = append(b, '"', ':')
	p.Buf = b
}

// text writes a member unless it is empty: one line, scrubbed, cut.
func (p *payloadWriter) text(key, value string, limit int) {
	if value == "" {
		return
	}
	p.name(key)
	p.Str(p.rules.Text(value, limit, false))
}

// clean writes a member that the event has too, and that is clean already.
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

func (p *payloadWriter) write(d *Draft, e *errata.Event, message cutText) {
	c := &d.Context
	p.ObjStart()
	p.text("source", c.Source, MaxTag)
	p.text("event_id", d.ClientID, MaxTag)
	p.head(message)
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
	p.clean("release", e.Release)
	p.clean("environment", e.Environment)
	for _, member := range [...]struct {
		key, value string
	}{
		{"server_name", c.ServerName},
		{"platform", c.Platform}, {"sdk", c.SDK}, {"runtime", c.Runtime}, {"os", c.OS},
		{"trace_id", c.TraceID}, {"span_id", c.SpanID}, {"transaction", c.Transaction}, {"logger", c.Logger},
	} {
		p.text(member.key, member.value, MaxName)
	}
	p.extra(c.Extra)
	if len(p.cut) > 0 {
		p.list("truncated", func() {
			for _, key := range p.cut {
				p.next()
				p.Str(key)
			}
		})
	}
	p.ObjEnd()
}

// head writes the message of the event.
func (p *payloadWriter) head(message cutText) {
	if message.text == "" {
		return
	}
	before := len(p.Buf)
	p.name("message")
	p.Str(message.text)
	p.whole, p.message = message.text, len(p.Buf)-before
	if message.cut {
		p.truncated("message")
	}
}

// extra writes the application's own object, if it is one and there is room.
func (p *payloadWriter) extra(extra []byte) {
	if len(extra) == 0 {
		return
	}
	if p.share.extra && len(extra) <= 2*MaxContext {
		if kept, err := p.rules.Scrubber.JSON(extra); err == nil {
			p.name("extra")
			p.Raw(kept)
			return
		}
	}
	p.truncated("extra")
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

// keepHeaders is what of the request headers is kept, in the order they came,
// each name once.
func (r *Rules) keepHeaders(headers []Pair) []Pair {
	var kept []Pair
	for _, h := range headers {
		name, value, ok := r.Scrubber.Header(h.Key, h.Value)
		if ok && value != "" && !hasKey(kept, name) {
			kept = append(kept, Pair{name, value})
		}
	}
	return kept
}

func hasKey(pairs []Pair, key string) bool {
	return slices.ContainsFunc(pairs, func(p Pair) bool { return p.Key == key })
}

// tags writes the sender's tags, each key once. A key may name a secret or be one.
func (p *payloadWriter) tags(tags []Pair) {
	if len(tags) == 0 {
		return
	}
	kept := tags[:min(len(tags), MaxTags)]
	if len(kept) < len(tags) || !p.share.tags {
		p.truncated("tags")
	}
	if !p.share.tags {
		return
	}
	p.object("tags", func() {
		for i, tag := range kept {
			if tag.Value == "" || hasKey(kept[:i], tag.Key) {
				continue
			}
			if p.rules.Scrubber.SecretKey(tag.Key) {
				tag.Value = scrub.Filtered
			}
			p.next()
			p.FieldStart(p.rules.Text(tag.Key, MaxTag, false))
			p.Str(p.rules.Text(tag.Value, MaxTag, false))
		}
	})
}

func (p *payloadWriter) exceptions(chain []Exception) {
	if len(chain) == 0 {
		return
	}
	first := max(0, len(chain)-p.share.exceptions) // the thrown one stands last and matters most
	if first > 0 {
		p.truncated("exceptions")
	}
	p.list("exceptions", func() {
		for i := range chain[first:] {
			p.exception(&chain[first+i])
		}
	})
}

func (p *payloadWriter) exception(x *Exception) {
	p.next()
	p.ObjStart()
	p.text("class", x.Class, MaxClass)
	if x.Message != "" {
		kept := p.rules.cutText(x.Message, p.share.text, true)
		if kept.cut && !p.repeats(kept.text) {
			p.truncated("exceptions")
		}
		p.name("message")
		p.Str(kept.text)
	}
	p.text("module", x.Module, MaxName)
	p.frames(x.Frames)
	p.ObjEnd()
}

// repeats says whether the text that was cut is the beginning of the message.
func (p *payloadWriter) repeats(cut string) bool {
	return strings.HasPrefix(p.whole, strings.TrimSuffix(cut, scrub.Mark))
}

// frames writes the frames. Of too many it writes as many of the first as of the
// last.
func (p *payloadWriter) frames(frames []Frame) {
	limit := p.share.frames
	if len(frames) > limit {
		p.truncated("frames")
	}
	if len(frames) == 0 || limit == 0 {
		return
	}
	p.list("frames", func() {
		for i := range frames {
			if len(frames) <= limit || i < limit/2 || i >= len(frames)-limit/2 {
				p.frame(&frames[i])
			}
		}
	})
}

func (p *payloadWriter) frame(f *Frame) {
	p.next()
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
		p.list("args", func() {
			for _, arg := range f.Args[:min(len(f.Args), MaxFrameArgs)] {
				p.next()
				p.Str(shapeOf(arg))
			}
		})
	}
	p.ObjEnd()
}
