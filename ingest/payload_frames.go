package ingest

import "github.com/errata-log/errata/ingest/scrub"

// mark ends a text that was cut.
const mark = scrub.Mark

func (p *payloadWriter) exceptions(chain []Exception) {
	if len(chain) == 0 {
		return
	}
	first := max(0, len(chain)-p.share.exceptions) // the thrown one stands last and matters most
	if first > 0 {
		p.truncated("exceptions")
	}
	p.list("exceptions", func() {
		frame := 0 // number of the exception's first frame
		for i := range chain {
			if i >= first {
				p.exception(&chain[i], frame)
			}
			frame += len(chain[i].Frames)
		}
	})
}

func (p *payloadWriter) exception(x *Exception, frame int) {
	p.next()
	p.ObjStart()
	p.text("class", x.Class, MaxClass)
	if x.Message != "" {
		kept := p.cutMessage(x.Message)
		if kept.cut && !p.repeats(kept.text) {
			p.truncated("exceptions")
		}
		p.name("message")
		p.Str(kept.text)
	}
	p.text("module", x.Module, MaxName)
	p.text("mechanism", x.Mechanism, MaxTag)
	if m := x.Member; m != nil {
		p.name("id")
		p.Int64(m.ID)
		if m.Parent >= 0 {
			p.name("parent")
			p.Int64(m.Parent)
		}
		if m.Group {
			p.name("group")
			p.Bool(true)
		}
	}
	p.frames(x.Frames, frame)
	p.ObjEnd()
}

// cutMessage is the message of an exception, cut to its share. That of the thrown one is
// mostly the event's, which was cleaned already.
func (p *payloadWriter) cutMessage(text string) cutText {
	if p.asSent && text == p.whole && len(text) <= p.share.text {
		return cutText{text, false}
	}
	return p.rules.cutText(text, p.share.text, true)
}

// frames writes the frames, of which the first one has the number given. Of too many it
// writes as many of the first as of the last.
func (p *payloadWriter) frames(frames []Frame, number int) {
	limit := p.share.frames
	if len(frames) > limit {
		p.truncated("frames")
	}
	if len(frames) == 0 || limit == 0 {
		return
	}
	p.list("frames", func() {
		for i := range frames {
			if isKeptFrame(i, len(frames), limit) {
				p.frame(&frames[i], number+i)
			}
		}
	})
}

// isKeptFrame says whether frame i of many is one of those that are kept.
func isKeptFrame(i, many, limit int) bool {
	return many <= limit || i < limit/2 || i >= many-limit/2
}

func (p *payloadWriter) frame(f *Frame, number int) {
	p.next()
	p.ObjStart()
	p.clean("file", p.rules.File(f.File))
	if f.Line > 0 {
		p.name("line")
		p.Int64(f.Line)
	}
	if f.Column > 0 {
		p.name("column")
		p.Int64(f.Column)
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
	p.around(number)
	p.ObjEnd()
}
