package sentry

import (
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/lenient"
)

// breadcrumb is one breadcrumb as it was sent.
type breadcrumb struct {
	time, kind, category, level, message []byte
	data                                 []byte // raw JSON
}

var crumbElement = element{(*parser).beginCrumb, (*parser).crumbField, (*parser).endCrumb}

func (p *parser) beginCrumb() { p.crumb = breadcrumb{} }

func (p *parser) crumbField(key []byte) error {
	b := &p.crumb
	switch string(key) {
	case "timestamp":
		return p.bytes(&b.time)
	case "type":
		return p.bytes(&b.kind)
	case "category":
		return p.bytes(&b.category)
	case "level":
		return p.bytes(&b.level)
	case "message":
		return p.bytes(&b.message)
	case "data":
		return p.raw(&b.data)
	default:
		return p.dec.Skip()
	}
}

// endCrumb keeps the breadcrumb. Of many it keeps the last ones.
func (p *parser) endCrumb() {
	b := &p.crumb
	if len(b.category)+len(b.message)+len(b.data)+len(b.kind) == 0 {
		return
	}
	if p.crumbsSeen < ingest.MaxCrumbs {
		p.crumbs = append(p.crumbs, *b)
	} else {
		p.crumbs[p.crumbsSeen%ingest.MaxCrumbs] = *b
	}
	p.crumbsSeen++
}

// finishCrumbs copies the breadcrumbs that are kept.
func (p *parser) finishCrumbs() {
	if p.crumbsSeen == 0 {
		return
	}
	first := 0
	if p.crumbsSeen > ingest.MaxCrumbs {
		first = p.crumbsSeen % ingest.MaxCrumbs
		p.draft.Context.Lose("breadcrumbs")
	}
	kept := make([]ingest.Breadcrumb, len(p.crumbs))
	for i := range kept {
		b := &p.crumbs[(first+i)%len(p.crumbs)]
		kept[i] = ingest.Breadcrumb{
			Time: ingest.CrumbTime(lenient.Time(string(b.time))), Type: p.keep.String(b.kind), Category: p.keep.String(b.category),
			Level: p.keep.String(b.level), Message: p.keep.String(lenient.Cut(b.message, maxCrumb)),
			Data: p.part("breadcrumbs", b.data, ingest.MaxCrumbData),
		}
	}
	p.draft.Context.Breadcrumbs = kept
}

// maxCrumb is how much of a breadcrumb's message is read, in bytes.
const maxCrumb = 2 * ingest.MaxCrumb
