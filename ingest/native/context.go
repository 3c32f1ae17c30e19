package native

import (
	"bytes"

	"github.com/go-faster/jx"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/lenient"
)

// maxLine is how much of a source line is read, in bytes.
const maxLine = 1 << 10

// lines reads a list of source lines, of which the first or the last ones are kept.
func (p *parser) lines(to *[]string, last bool) error {
	*to = nil
	return lenient.Array(&p.dec, p, func(p *parser) error {
		line, err := p.dec.Bytes()
		full := len(*to) == ingest.MaxSourceLines
		if full && last {
			copy(*to, (*to)[1:])
			*to = (*to)[:ingest.MaxSourceLines-1]
		}
		if !full || last {
			*to = append(*to, p.keep.String(lenient.Cut(line, maxLine)))
		}
		return err
	})
}

// object reads an object as it stands, nil for anything else and for one that is too
// large, which is named as lost.
func (p *parser) object(name string, most int) ([]byte, error) {
	if p.dec.Next() != jx.Object {
		return nil, p.dec.Skip()
	}
	raw, err := p.dec.Raw()
	if raw = bytes.TrimSpace(raw); len(raw) <= most {
		return bytes.Clone(raw), err
	}
	p.draft.Context.Lose(name)
	return nil, err
}

func (p *parser) contexts() error {
	raw, err := p.object("contexts", 4*ingest.MaxExtra)
	if p.draft.Context.Contexts = nil; raw != nil {
		p.draft.Context.Contexts = &ingest.Shared{Raw: raw}
	}
	return err
}

// breadcrumbs reads what happened before the error, and keeps the last ones.
func (p *parser) breadcrumbs() error {
	c := &p.draft.Context
	c.Breadcrumbs = nil
	return lenient.Array(&p.dec, p, func(p *parser) error {
		p.crumb = ingest.Breadcrumb{}
		if err := lenient.Object(&p.dec, p, (*parser).crumbField); err != nil {
			return err
		}
		if b := p.crumb; b.Type == "" && b.Category == "" && b.Message == "" && b.Data == nil {
			return nil
		}
		if len(c.Breadcrumbs) == ingest.MaxCrumbs {
			c.Lose("breadcrumbs")
			copy(c.Breadcrumbs, c.Breadcrumbs[1:])
			c.Breadcrumbs = c.Breadcrumbs[:ingest.MaxCrumbs-1]
		}
		c.Breadcrumbs = append(c.Breadcrumbs, p.crumb)
		return nil
	})
}

func (p *parser) crumbField(key []byte) (err error) {
	b := &p.crumb
	switch string(key) {
	case "time":
		text, err := p.dec.Bytes()
		b.Time = ingest.CrumbTime(lenient.Time(string(text)))
		return err
	case "type":
		return p.set(&b.Type)
	case "category":
		return p.set(&b.Category)
	case "level":
		return p.set(&b.Level)
	case "message":
		return p.set(&b.Message)
	case "data":
		b.Data, err = p.object("breadcrumbs", ingest.MaxCrumbData)
		return err
	default:
		return p.dec.Skip()
	}
}
