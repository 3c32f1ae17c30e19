package native

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-faster/jx"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/lenient"
)

// frames reads the stack trace, oldest call first. Its frames are lenient: they
// are an extra, and half a trace is better than none.
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
		f.Line, err = lenient.Int(&p.dec)
		return err
	case "function":
		return p.set(&f.Function)
	case "module":
		return p.set(&f.Module)
	case "in_app":
		f.InApp, _, err = lenient.Bool(&p.dec)
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

// shapeOf reads an argument as its shape. A text that is a shape already stays;
// a value that a client sent by mistake becomes its shape here and goes no
// further.
func shapeOf(d *jx.Decoder) (string, error) {
	switch d.Next() {
	case jx.String:
		text, err := lenient.Text(d)
		if isShape(text) {
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

// isShape says whether the text is a shape: a bare type, a type with a size,
// or a type with the name of a class.
func isShape(text string) bool {
	kind, inside, sized := strings.Cut(text, "(")
	if !sized {
		switch kind {
		case "int", "float", "bool", "null", "string", "array", "object", "resource", "callable":
			return true
		}
		return false
	}
	inside, closed := strings.CutSuffix(inside, ")")
	switch kind {
	case "string", "array":
		_, err := strconv.ParseUint(inside, 10, 32)
		return closed && err == nil
	case "object", "resource":
		return closed && len(inside) <= ingest.MaxClass && isName(inside)
	default:
		return false
	}
}

// isName says whether the text can be the name of a class or a resource.
func isName(text string) bool {
	for _, r := range text {
		if !(r == '\\' || r == '_' || r == '.' || r == '$' || r == ':' || r == '@' ||
			r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80) {
			return false
		}
	}
	return text != ""
}
