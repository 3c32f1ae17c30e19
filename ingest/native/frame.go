package native

import (
	"bytes"
	"strconv"

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
		p.frame = ingest.Frame{}
		if err := lenient.Object(&p.dec, p, (*parser).frameField); err != nil {
			return err
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
	shape, err := shapeOf(&p.dec)
	if len(p.frame.Args) < ingest.MaxFrameArgs {
		p.frame.Args = append(p.frame.Args, shape)
	}
	return err
}

// shapeOf reads an argument as its shape, such as string(5). A text that is a
// shape stays. A value, which a client must not send, becomes its shape here and
// goes no further.
func shapeOf(d *lenient.Reader) (string, error) {
	switch d.Next() {
	case jx.String:
		text, err := d.Text()
		if ingest.IsShape(text) {
			return text, err
		}
		return "string(" + strconv.Itoa(len(text)) + ")", err
	case jx.Number:
		raw, err := d.Raw()
		if bytes.ContainsAny(raw, ".eE") {
			return "float", err
		}
		return "int", err
	case jx.Bool:
		return "bool", d.Skip()
	case jx.Null:
		return "null", d.Skip()
	case jx.Array:
		return "array", d.Skip()
	default:
		return "object", d.Skip()
	}
}
