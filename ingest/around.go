package ingest

import (
	"slices"
	"strings"

	"github.com/go-faster/jx"

	"github.com/errata-log/errata/ingest/lenient"
	"github.com/errata-log/errata/ingest/scrub"
	"github.com/errata-log/errata/projects"
)

// makeAround writes what stands around the calls of the application, the innermost call
// of the thrown exception first: it matters most when there is too much.
func (p *parts) makeAround(chain []Exception) {
	frames := 0
	for i := range chain {
		frames += len(chain[i].Frames)
	}
	for range frames {
		p.around = append(p.around, span{})
	}
	begin := len(p.json.Buf)
	for i := len(chain) - 1; i >= max(0, len(chain)-MaxExceptions); i-- {
		of := chain[i].Frames
		frames -= len(of)
		for j, o := range slices.Backward(of) {
			if o.Around == nil || !o.InApp || !isKeptFrame(j, len(of), MaxFrames) {
				continue
			}
			from := len(p.json.Buf)
			if p.writeAround(o.Around); len(p.json.Buf)-begin > maxAround {
				p.json.Buf = p.json.Buf[:from]
				p.lose("source")
				return
			}
			p.around[frames+j] = span{from, len(p.json.Buf)}
		}
	}
}

func (p *parts) dropAround() (size int) {
	for _, s := range p.around {
		size += s.len()
	}
	if size > 0 {
		p.lose("source")
	}
	p.around = p.around[:0]
	return size
}

// around writes what stands around the call of the frame with the number.
func (p *payloadWriter) around(frame int) {
	if frame < len(p.parts.around) {
		s := p.parts.around[frame]
		p.Buf = append(p.Buf, p.parts.json.Buf[s.from:s.to]...)
	}
}

// writeAround writes members of a frame, each with a comma before it.
func (p *parts) writeAround(a *Around) {
	if !p.keep.NoSourceLines && (a.Line != "" || len(a.Before)+len(a.After) > 0) {
		p.writeLines(a)
	}
	if len(a.Vars) > 0 {
		switch p.keep.Vars {
		case projects.VarsShapes:
			p.writeShapes(a.Vars)
		case projects.VarsValues:
			p.writeValues(a.Vars)
		case projects.VarsOff:
		}
	}
}

// writeLines writes the source lines. The scrubber reads them together, because a secret
// may stand in several lines. If it takes a whole line out, nobody can tell which line is
// which, and none is kept.
func (p *parts) writeLines(a *Around) {
	before, after := a.Before[max(0, len(a.Before)-MaxSourceLines):], a.After[:min(len(a.After), MaxSourceLines)]
	p.lines = p.lines[:0]
	for _, line := range before {
		p.addLine(line)
	}
	p.addLine(a.Line)
	for _, line := range after {
		p.addLine(line)
	}
	text := p.memo.lines(p.rules.Scrubber, p.lines[:len(p.lines)-1])
	if strings.Count(text, "\n") != len(before)+len(after) {
		p.member("context")
		p.json.Str(scrub.Filtered)
		return
	}
	text = p.writeList("pre", text, len(before))
	line, text, _ := strings.Cut(text, "\n")
	if a.Line != "" {
		p.member("context")
		p.json.Str(scrub.Cut(line, MaxSourceLine))
	}
	p.writeList("post", text, len(after))
}

// addLine adds a line, cut roughly, without line feeds of its own.
func (p *parts) addLine(line string) {
	if len(line) > MaxSourceLine+slack {
		line = roughly(line, MaxSourceLine+slack)
	}
	from := len(p.lines)
	p.lines = append(p.lines, line...)
	for i := from; i < len(p.lines); i++ {
		if p.lines[i] == '\n' || p.lines[i] == '\r' {
			p.lines[i] = ' '
		}
	}
	p.lines = append(p.lines, '\n')
}

// writeList writes the first n lines of a text as a list, and returns the rest.
func (p *parts) writeList(key, text string, n int) (rest string) {
	if n == 0 {
		return text
	}
	p.member(key)
	p.json.ArrStart()
	for i := range n {
		var line string
		if line, text, _ = strings.Cut(text, "\n"); i > 0 {
			p.json.Comma()
		}
		p.json.Str(scrub.Cut(line, MaxSourceLine))
	}
	p.json.ArrEnd()
	return text
}

// member begins a member behind others.
func (p *parts) member(key string) {
	p.json.Buf = append(p.json.Buf, ',', '"')
	p.json.Buf = append(p.json.Buf, key...)
	p.json.Buf = append(p.json.Buf, '"', ':')
}

// writeShapes writes the names of variables with their shapes.
func (p *parts) writeShapes(vars []byte) {
	p.writeVars(vars, ReadVarShape)
}

// writeValues writes the names of variables with their values as texts.
func (p *parts) writeValues(vars []byte) {
	kept, err := p.rules.Scrubber.JSONKnowing(vars, p.rules.memory().keys)
	if err != nil {
		p.lose("vars")
		return
	}
	p.writeVars(kept, func(in *lenient.Reader) (string, error) {
		read := in.Raw
		if in.Next() == jx.String {
			read = in.Bytes
		}
		text, err := read()
		return scrub.Cut(string(text), MaxVar), err
	})
}

// writeVars writes an object with the text that show makes of each variable. A name that
// is a secret or too long could be that of another one too, and is left out.
func (p *parts) writeVars(vars []byte, show func(in *lenient.Reader) (string, error)) {
	w := &p.json
	p.member("vars")
	w.ObjStart()
	n := 0
	in := lenient.Read(vars)
	err := lenient.Object(in, in, func(in *lenient.Reader, key []byte) error {
		kind := p.memo.name(p.rules, key)
		if n++; n > MaxVars || kind == nameLeftOut {
			p.lose("vars")
			return in.Skip()
		}
		next(w)
		w.ByteStr(key)
		w.Buf = append(w.Buf, ':')
		if kind == nameSecret {
			w.Str(scrub.Filtered)
			return in.Skip()
		}
		text, err := show(in)
		w.Str(text)
		return err
	})
	if err != nil {
		p.lose("vars")
	}
	w.ObjEnd()
}
