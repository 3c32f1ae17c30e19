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
// Exceptions stand oldest cause first, frames oldest call first. When it would
// exceed MaxPayload, extra is left out, then frames from the middle.
func (r *Rules) payload(d *Draft, e *errata.Event, message string) []byte {
	for _, keep := range [...]struct {
		extra  bool
		frames int
	}{{true, MaxFrames}, {false, MaxFrames}, {false, 10}, {false, 0}} {
		w := payloadWriters.Get().(*jx.Writer) //nolint:errcheck // the pool holds nothing else
		w.Reset()
		p := payloadWriter{Writer: w, rules: r}
		p.write(d, e, message, keep.extra, keep.frames)
		fits := len(w.Buf) <= MaxPayload || keep.frames == 0
		var payload []byte
		if fits {
			payload = bytes.Clone(w.Buf)
		}
		payloadWriters.Put(w)
		if fits {
			return payload
		}
	}
	return nil // not reached: the last round always returns
}

// payloadWriters keep their buffers: a payload is copied out at its true size.
var payloadWriters = sync.Pool{New: func() any { return new(jx.Writer) }}

// payloadWriter writes one JSON object, member by member.
type payloadWriter struct {
	*jx.Writer
	rules  *Rules
	inside bool // a member was written
}

// name begins a member.
func (p *payloadWriter) name(key string) {
	if p.inside {
		p.Comma()
	}
	p.inside = true
	p.Str(key)
	p.RawStr(":")
}

// text writes a member of ours unless it is empty: one line, scrubbed, cut.
func (p *payloadWriter) text(key, value string, limit int) {
	if value == "" {
		return
	}
	p.name(key)
	p.Str(cutText(scrub.Text(oneLine(cutText(value, 4*limit))), limit))
}

// foreign writes a member whose key is the sender's and may name a secret.
func (p *payloadWriter) foreign(key, value string, limit int) {
	if scrub.SecretKey(key) {
		value = scrub.Filtered
	}
	p.text(cutText(oneLine(key), limit), value, limit)
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

func (p *payloadWriter) write(d *Draft, e *errata.Event, message string, extra bool, frames int) {
	c := &d.Context
	p.ObjStart()
	p.text("source", c.Source, MaxTag)
	p.text("event_id", d.ClientID, MaxTag)
	if message != "" {
		p.name("message")
		p.Str(message)
	}
	p.exceptions(c.Exceptions, frames)
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
	if extra && len(c.Extra) > 0 {
		if kept, err := scrub.JSON(c.Extra); err == nil {
			p.name("extra")
			p.Raw(kept)
		}
	}
	p.ObjEnd()
}

func (p *payloadWriter) headers(headers []Pair) {
	kept := keepHeaders(headers)
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

func (p *payloadWriter) tags(tags []Pair) {
	if len(tags) == 0 {
		return
	}
	p.object("tags", func() {
		for _, tag := range tags[:min(len(tags), MaxTags)] {
			p.foreign(tag.Key, tag.Value, MaxTag)
		}
	})
}

func (p *payloadWriter) exceptions(chain []Exception, frames int) {
	if len(chain) == 0 {
		return
	}
	// The thrown one stands last and matters most.
	chain = chain[max(0, len(chain)-MaxExceptions):]
	p.name("exceptions")
	p.ArrStart()
	for i := range chain {
		if i > 0 {
			p.Comma()
		}
		p.inside = false
		x := &chain[i]
		p.ObjStart()
		p.text("class", x.Class, MaxClass)
		if x.Message != "" {
			p.name("message")
			p.Str(cutText(cleanText(scrub.Text(cutText(x.Message, MaxMessage))), MaxMessage))
		}
		p.text("module", x.Module, MaxName)
		p.frames(x.Frames, frames)
		p.ObjEnd()
	}
	p.ArrEnd()
	p.inside = true
}

// frames writes at most limit frames, the first and the last half of them.
func (p *payloadWriter) frames(frames []Frame, limit int) {
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
			p.Str(cutText(scrub.Text(oneLine(arg)), MaxTag))
		}
		p.ArrEnd()
	}
	p.ObjEnd()
}
