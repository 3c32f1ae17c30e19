package sentry

import (
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/stacktrace"
)

// frame is one frame as it was sent.
type frame struct {
	filename, absPath, module, function []byte
	line                                int64
	inApp                               bool
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
		File: p.keep.String(file), Line: f.line, Function: p.keep.String(f.function), Module: p.keep.String(f.module), InApp: f.inApp,
	}
	if kept.InApp && stacktrace.GoLibrary(kept.File, kept.Module) {
		kept.InApp = false // sentry-go says in_app for all that is not below GOROOT
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
	case "in_app":
		f.inApp, _, err = p.dec.Bool()
		return err
	default: // variables and source lines are never kept
		return p.dec.Skip()
	}
}
