package native

import (
	"github.com/go-faster/jx"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/lenient"
)

// frames reads the stack trace, oldest call first. A wrong value in a frame counts
// as absent: half a trace is better than none.
func (p *parser) frames() error {
	p.trace.Clear()
	if t := p.dec.Next(); t != jx.Array && t != jx.Null {
		p.refuse(errata.KindInvalidEvent, "frames must be an array of objects")
	}
	return lenient.Array(&p.dec, p, func(p *parser) error {
		p.frame, p.around = ingest.Frame{}, ingest.Around{}
		if err := lenient.Object(&p.dec, p, (*parser).frameField); err != nil {
			return err
		}
		if a := &p.around; a.Line != "" || len(a.Before)+len(a.After)+len(a.Vars) > 0 {
			p.frame.Around = new(*a)
		}
		if p.frame.File != "" || p.frame.Function != "" {
			p.trace.Add(p.frame)
		}
		return nil
	})
}

func (p *parser) frameField(key []byte) (err error) {
	f := &p.frame
	switch string(key) {
	case "file":
		return p.set(&f.File)
	case "line":
		f.Line, err = p.dec.Int()
		return err
	case "column":
		f.Column, err = p.dec.Int()
		return err
	case "pre":
		return p.lines(&p.around.Before, true)
	case "context":
		return p.set(&p.around.Line)
	case "post":
		return p.lines(&p.around.After, false)
	case "vars":
		p.around.Vars, err = p.object("vars", ingest.MaxVarsRead)
		return err
	case "function":
		return p.set(&f.Function)
	case "module":
		return p.set(&f.Module)
	case "in_app":
		f.InApp, _, err = p.dec.Bool()
		return err
	case "args":
		f.Args = nil
		return lenient.Array(&p.dec, p, (*parser).arg)
	default:
		return p.dec.Skip()
	}
}

func (p *parser) arg() error {
	shape, err := ingest.ReadShape(&p.dec)
	if len(p.frame.Args) < ingest.MaxFrameArgs {
		p.frame.Args = append(p.frame.Args, shape)
	}
	return err
}
