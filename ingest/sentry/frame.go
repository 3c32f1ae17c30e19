package sentry

import (
	"bytes"
	"strings"

	"github.com/go-faster/jx"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/lenient"
	"github.com/errata-log/errata/ingest/stacktrace"
)

// frame is one frame as it was sent.
type frame struct {
	filename, absPath, module, function []byte
	line, column                        int64
	inApp                               bool
	// Raw JSON, which is read for frames of the application only.
	before, at, after, vars []byte
}

// readStack reads a stack trace into scratch.
func (p *parser) readStack() error {
	p.scratch.Clear()
	return p.only("frames", func(p *parser) error { return p.array((*parser).readFrame) })
}

func (p *parser) readFrame() error {
	p.frame = frame{}
	if err := p.object((*parser).frameField); err != nil {
		return err
	}
	f := &p.frame
	file := f.filename
	if len(file) == 0 {
		file = f.absPath // sentry-go sends no filename
	}
	if len(file) == 0 {
		file = f.module
	}
	if len(file) == 0 && len(f.function) == 0 {
		return nil // null, or a frame without a place
	}
	kept := ingest.Frame{
		File: p.keep.String(file), Line: f.line, Column: f.column,
		Function: p.keep.String(f.function), Module: p.keep.String(f.module), InApp: f.inApp,
	}
	switch {
	case stacktrace.GoLibrary(kept.File, kept.Module): // sentry-go says in_app for all that is not below GOROOT
		kept.InApp = false
	case kept.File == "<anonymous>" && kept.Line == 0: // JSON.parse and others that are built into V8, for which @sentry/browser says so
		kept.InApp = false
	}
	if kept.InApp || strings.HasSuffix(kept.File, ".go") { // JudgedFrames may still mark it
		kept.Around = p.around()
	}
	p.scratch.Add(kept)
	return nil
}

func (p *parser) frameField(key []byte) (err error) {
	f := &p.frame
	switch string(key) {
	case "filename":
		return p.bytes(&f.filename)
	case "abs_path":
		return p.bytes(&f.absPath)
	case "module":
		return p.bytes(&f.module)
	case "function":
		return p.bytes(&f.function)
	case "lineno":
		f.line, err = p.dec.Int()
		return err
	case "colno":
		f.column, err = p.dec.Int()
		return err
	case "in_app":
		f.inApp, _, err = p.dec.Bool()
		return err
	case "pre_context":
		f.before, err = p.dec.Raw()
		return err
	case "context_line":
		f.at, err = p.dec.Raw()
		return err
	case "post_context":
		f.after, err = p.dec.Raw()
		return err
	case "vars":
		f.vars, err = p.dec.Raw()
		return err
	default:
		return p.dec.Skip()
	}
}

// around is what stands around the call of the frame, nil for nothing.
func (p *parser) around() *ingest.Around {
	f := &p.frame
	if len(f.before)+len(f.at)+len(f.after)+len(f.vars) == 0 {
		return nil
	}
	a := ingest.Around{Vars: p.part("vars", f.vars, ingest.MaxVarsRead)}
	if len(f.before)+len(f.at)+len(f.after) > 0 {
		var around [ingest.MaxSourceLines][]byte
		lines := make([]string, 0, 2*ingest.MaxSourceLines)
		for _, line := range lastLines(&around, f.before) {
			lines = append(lines, p.keep.String(line))
		}
		before := len(lines)
		for _, line := range firstLines(&around, f.after) {
			lines = append(lines, p.keep.String(line))
		}
		a.Before, a.After = lines[:before:before], lines[before:]
		at, _ := lenient.Read(f.at).Bytes() // the JSON was read already
		a.Line = p.keep.String(lenient.Cut(at, maxLine))
	}
	if a.Line == "" && len(a.Before)+len(a.After)+len(a.Vars) == 0 {
		return nil
	}
	return &a
}

// maxLine is how much of a source line is read, in bytes: more than is kept, so that the
// pipeline can find secrets across the end.
const maxLine = 1 << 10

// lastLines are the last lines of a list in JSON.
func lastLines(to *[ingest.MaxSourceLines][]byte, raw []byte) [][]byte {
	n := 0
	eachLine(raw, func(line []byte) {
		if n == len(to) {
			copy(to[:], to[1:])
			n--
		}
		to[n] = line
		n++
	})
	return to[:n]
}

// firstLines are the first lines of a list in JSON.
func firstLines(to *[ingest.MaxSourceLines][]byte, raw []byte) [][]byte {
	n := 0
	eachLine(raw, func(line []byte) {
		if n < len(to) {
			to[n] = line
			n++
		}
	})
	return to[:n]
}

func eachLine(raw []byte, do func(line []byte)) {
	if len(raw) == 0 {
		return
	}
	in := lenient.Read(raw)
	_ = lenient.Array(in, in, func(in *lenient.Reader) error { // the JSON was read already
		line, err := in.Bytes()
		do(lenient.Cut(line, maxLine))
		return err
	})
}

// part is a copy of a JSON object that the pipeline bounds and scrubs; nil for anything
// else, for an empty one, and for one that is far too large, which is named as lost.
func (p *parser) part(name string, raw []byte, most int) []byte {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' || len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0 {
		return nil
	}
	if len(raw) > most {
		p.draft.Context.Lose(name)
		return nil
	}
	return bytes.Clone(raw)
}

// raw reads an object as it stands, nil for anything else.
func (p *parser) raw(to *[]byte) (err error) {
	if p.dec.Next() != jx.Object {
		*to = nil
		return p.dec.Skip()
	}
	*to, err = p.dec.Raw()
	return err
}
