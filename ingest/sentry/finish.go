package sentry

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/errata-log/errata/ingest"
)

// finish fills the fields that depend on several keys of the event.
func (p *parser) finish(sender netip.Addr) {
	d, c := &p.draft, &p.draft.Context
	c.Source = "sentry"
	d.ClientID = p.keep.String(eventID(p.eventID))
	d.URI = p.uri()
	d.IP = p.ip(sender)
	c.Transaction = cmp.Or(c.Transaction, p.keep.String(p.culprit))
	c.Headers, c.Tags = p.lists.pairs.Copy(p.headers), p.lists.pairs.Copy(p.tags)
	c.SDK = p.join(p.sdk, "/")
	c.OS = p.join(p.os, " ")
	c.Runtime = cmp.Or(p.join(p.runtime, " "), p.join(p.browser, " "))
	c.Extra = p.part("extra", p.extra, maxContexts)
	p.finishContexts()
	p.finishCrumbs()
	p.finishMessage()
	p.finishPlace()
}

// finishMessage finds class and message: those of the thrown exception, which is
// the last of the chain, else the logged message.
func (p *parser) finishMessage() {
	d, c := &p.draft, &p.draft.Context
	if len(p.exceptions) > 0 {
		thrown := &p.exceptions[len(p.exceptions)-1]
		d.Message = thrown.Message
		if thrown.known {
			c.Handled = new(thrown.handled)
		}
		var chain [ingest.MaxExceptions]ingest.Exception
		for i := range p.exceptions {
			chain[i] = p.exceptions[i].Exception
		}
		c.Exceptions = p.lists.exceptions.Copy(chain[:len(p.exceptions)])
		if !thrown.synthetic || namesError(thrown.Class) {
			d.Class = ingest.ClassOf(thrown.Class, c.Exceptions)
		}
	}
	said := &p.logentry
	if len(said.formatted) == 0 && len(said.message) == 0 {
		said = &p.message
	}
	text, template := said.text()
	if d.Message != "" {
		c.Log = text
		return
	}
	d.Message, d.Template = text, template
}

// namesError says whether a class that the SDK made up tells what was thrown. TimeoutError
// tells it: an abort signal of a browser throws that. Error and PointerEvent do not.
func namesError(class string) bool {
	return class != "Error" && strings.HasSuffix(class, "Error")
}

// finishPlace finds file and line: in the thrown exception's frames, else in
// those of its causes, else in the stack trace of the event or its thread.
func (p *parser) finishPlace() {
	d, c := &p.draft, &p.draft.Context
	for i := range slices.Backward(p.exceptions) {
		if at := p.exceptions[i].place; at.Known {
			d.File, d.Line, d.PlacedBy = at.File, at.Line, at.By()
			return
		}
	}
	if p.stack.Seen() == 0 {
		return
	}
	at := p.stack.Place()
	d.File, d.Line, d.PlacedBy = at.File, at.Line, at.By()
	if len(c.Exceptions) == 0 {
		c.Exceptions = make([]ingest.Exception, 1) // the payload has no other place for the trace of a message
	}
	c.Exceptions[len(c.Exceptions)-1].Frames = p.stack.JudgedFrames()
}
