package sentry

import (
	"slices"

	"github.com/go-faster/jx"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/stacktrace"
)

// exception is one exception of the chain, as it was sent.
type exception struct {
	ingest.Exception
	synthetic bool // the SDK made it to carry a stack trace
	handled   bool
	known     bool // the event says handled
	place     stacktrace.Place

	id, parent int64
	hasID      bool
	group      bool
}

// element reads the elements of one kind of list: exceptions or threads.
type element struct {
	begin func(*parser)
	field func(*parser, []byte) error
	end   func(*parser)
}

var (
	exceptionElement = element{(*parser).beginException, (*parser).exceptionField, (*parser).endException}
	threadElement    = element{(*parser).beginThread, (*parser).threadField, (*parser).endThread}
)

// list reads a list in the forms that SDKs send: {"values":[…]}, an array, and
// one object alone.
func (p *parser) list(e *element) error {
	each := func(p *parser) error { return p.one(e) }
	if p.dec.Next() != jx.Object {
		return p.array(each)
	}
	alone := true
	e.begin(p)
	err := p.object(func(p *parser, key []byte) error {
		if string(key) != "values" {
			return e.field(p, key)
		}
		next := p.dec.Next()
		alone = alone && next != jx.Array && next != jx.Object
		if next == jx.Object { // a list of one, as PHP writes arrays with keys
			return p.one(e)
		}
		return p.array(each)
	})
	if err == nil && alone {
		e.end(p)
	}
	return err
}

func (p *parser) one(e *element) error {
	if p.dec.Next() != jx.Object {
		return p.dec.Skip()
	}
	e.begin(p)
	if err := p.object(e.field); err != nil {
		return err
	}
	e.end(p)
	return nil
}

func (p *parser) beginException() {
	p.link = exception{parent: -1}
	p.scratch.Clear()
}

func (p *parser) exceptionField(key []byte) error {
	switch string(key) {
	case "type":
		return p.set(&p.link.Class)
	case "value":
		text, err := p.dec.Message()
		if len(text) > 0 {
			p.link.Message = p.keep.String(text)
		}
		return err
	case "module":
		return p.set(&p.link.Module)
	case "stacktrace":
		return p.readStack()
	case "mechanism":
		return p.object((*parser).mechanism)
	default:
		return p.dec.Skip()
	}
}

// endException keeps the exception. Of a long chain it keeps the end, which is
// nearest to the thrown exception.
func (p *parser) endException() {
	if p.link.Class == "" && p.link.Message == "" && p.scratch.Seen() == 0 {
		return
	}
	if x := &p.link; x.hasID || x.group {
		x.Member = &ingest.Member{ID: x.id, Parent: x.parent, Group: x.group}
	}
	p.link.Frames, p.link.place = p.scratch.JudgedFrames(), p.scratch.Place()
	if len(p.exceptions) == ingest.MaxExceptions {
		p.exceptions = slices.Delete(p.exceptions, 0, 1)
	}
	p.exceptions = append(p.exceptions, p.link)
}

func (p *parser) mechanism(key []byte) (err error) {
	switch string(key) {
	case "handled":
		p.link.handled, p.link.known, err = p.dec.Bool()
		return err
	case "type":
		text, err := p.dec.Bytes()
		if string(text) != "generic" {
			p.link.Mechanism = p.keep.String(text)
		}
		return err
	case "exception_id":
		p.link.hasID = p.dec.Next() == jx.Number
		p.link.id, err = p.dec.Int()
		return err
	case "parent_id":
		if p.dec.Next() != jx.Number {
			return p.dec.Skip()
		}
		p.link.parent, err = p.dec.Int()
		return err
	case "is_exception_group":
		p.link.group, _, err = p.dec.Bool()
		return err
	case "synthetic":
		p.link.synthetic, _, err = p.dec.Bool()
		return err
	default:
		return p.dec.Skip()
	}
}

// The ranks of the stack traces outside of exceptions: the highest is kept.
const (
	rankThread = iota + 1
	rankCurrent
	rankCrashed
	rankEvent
)

func (p *parser) beginThread() {
	p.threadRank = rankThread
	p.scratch.Clear()
}

func (p *parser) threadField(key []byte) error {
	switch string(key) {
	case "stacktrace":
		return p.readStack()
	case "current":
		return p.raiseThread(rankCurrent)
	case "crashed":
		return p.raiseThread(rankCrashed)
	default:
		return p.dec.Skip()
	}
}

func (p *parser) raiseThread(rank int) error {
	is, _, err := p.dec.Bool()
	if is {
		p.threadRank = max(p.threadRank, rank)
	}
	return err
}

func (p *parser) endThread() { p.offerStack(p.threadRank) }

// offerStack keeps the stack trace just read if its rank is above that of the
// kept one.
func (p *parser) offerStack(rank int) {
	if p.scratch.Seen() > 0 && rank > p.stackRank {
		p.stack, p.scratch = p.scratch, p.stack
		p.stackRank = rank
	}
}
