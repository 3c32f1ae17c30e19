package sentry

import (
	"github.com/go-faster/jx"

	"github.com/errata-log/errata/ingest"
)

// context reads one of the contexts. What is told in fields of the event is read; the
// others, and these if they say more, are kept as they stand.
func (p *parser) context(key []byte) error {
	if p.dec.Next() != jx.Object {
		return p.dec.Skip()
	}
	begin := p.dec.Mark()
	p.more = false
	var err error
	switch string(key) {
	case "trace":
		return p.object((*parser).traceField)
	case "runtime":
		err = p.named(&p.runtime)
	case "browser":
		err = p.named(&p.browser)
	case "os":
		err = p.named(&p.os)
	default:
		p.more, err = true, p.dec.Skip()
	}
	raw := p.dec.Since(begin)
	if err != nil || !p.more || len(raw) <= len("{}") {
		return err
	}
	w := &p.contexts
	if len(w.Buf)+len(raw) > maxContexts {
		p.draft.Context.Lose("contexts")
		return nil
	}
	if len(w.Buf) == 0 {
		w.ObjStart()
	} else {
		w.Comma()
	}
	w.FieldStart(string(key))
	w.Raw(raw)
	return nil
}

// maxContexts bounds the contexts as they are read, in bytes. Less is kept.
const maxContexts = 4 * ingest.MaxExtra

// finishContexts copies the contexts.
func (p *parser) finishContexts() {
	if w := &p.contexts; len(w.Buf) > 0 {
		w.ObjEnd()
		p.draft.Context.Contexts = &ingest.Shared{Raw: p.lists.bytes.Copy(w.Buf)}
	}
}

func (p *parser) traceField(key []byte) error {
	switch string(key) {
	case "trace_id":
		return p.set(&p.draft.Context.TraceID)
	case "span_id":
		return p.set(&p.draft.Context.SpanID)
	default:
		return p.dec.Skip()
	}
}

// named reads a context, and sets more when it has more than a name and a version.
func (p *parser) named(to *named) error {
	return p.object(func(p *parser, key []byte) error { return p.namedField(to, key) })
}

func (p *parser) namedField(to *named, key []byte) error {
	switch string(key) {
	case "name":
		return p.bytes(&to.name)
	case "version":
		return p.bytes(&to.version)
	case "type":
		return p.dec.Skip()
	default:
		p.more = true
		return p.dec.Skip()
	}
}

func (p *parser) sdkField(key []byte) error {
	if string(key) == "settings" {
		return p.only("infer_ip", func(p *parser) error { return p.bytes(&p.inferIP) })
	}
	return p.namedField(&p.sdk, key)
}
