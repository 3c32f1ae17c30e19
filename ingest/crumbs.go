package ingest

import "time"

// crumb is a breadcrumb without its last brace, and its data with the comma before it.
type crumb struct{ head, data span }

// instantForm is how times are written: UTC, to the millisecond.
const instantForm = "2006-01-02T15:04:05.000Z"

// makeCrumbs writes the breadcrumbs, the newest first: when they need too much room, the
// older ones lose their data, and then go.
func (p *parts) makeCrumbs(all []Breadcrumb) {
	if len(all) > MaxCrumbs {
		p.lose("breadcrumbs")
		all = all[len(all)-MaxCrumbs:]
	}
	begin := len(p.json.Buf)
	for i := len(all) - 1; i >= 0; i-- {
		b := &all[i]
		from := len(p.json.Buf)
		if p.crumbHead(b); len(p.json.Buf)-begin > maxCrumbs {
			p.json.Buf = p.json.Buf[:from]
			p.lose("breadcrumbs")
			return
		}
		c := crumb{head: span{from, len(p.json.Buf)}}
		c.data = span{c.head.to, c.head.to}
		if len(b.Data) > 0 && !p.crumbData(b.Data, maxCrumbs-(len(p.json.Buf)-begin)) {
			p.lose("breadcrumbs")
		}
		c.data.to = len(p.json.Buf)
		p.crumbs = append(p.crumbs, c)
	}
}

func (p *parts) crumbHead(b *Breadcrumb) {
	w := &p.json
	w.ObjStart()
	if !b.Time.IsZero() {
		name(w, "time")
		w.Buf = append(w.Buf, '"')
		w.Buf = b.Time.UTC().AppendFormat(w.Buf, instantForm)
		w.Buf = append(w.Buf, '"')
	}
	p.crumbWord("type", b.Type)
	p.crumbWord("category", b.Category)
	p.crumbWord("level", b.Level)
	if b.Message != "" {
		name(w, "message")
		w.Str(p.rules.Text(b.Message, MaxCrumb, true))
	}
}

func (p *parts) crumbWord(key, value string) {
	if value != "" {
		name(&p.json, key)
		p.json.Str(p.memo.word(p.rules, value))
	}
}

// crumbData writes the data of a breadcrumb if it fits.
func (p *parts) crumbData(data []byte, room int) bool {
	if len(data) > MaxCrumbData {
		return false
	}
	kept, err := p.rules.Scrubber.JSONKnowing(data, p.rules.memory().keys)
	if err != nil || len(kept) > room {
		return false
	}
	if len(kept) > len("{}") {
		name(&p.json, "data")
		p.json.Raw(kept)
	}
	return true
}

// dropData drops the data of all breadcrumbs.
func (p *parts) dropData() (size int) {
	for i := range p.crumbs {
		size += p.crumbs[i].data.len()
		p.crumbs[i].data = span{}
	}
	if size > 0 {
		p.lose("breadcrumbs")
	}
	return size
}

func (p *parts) dropCrumbs() (size int) {
	for i := range p.crumbs {
		size += p.crumbs[i].head.len() + len(`},`)
	}
	if size > 0 {
		p.lose("breadcrumbs")
	}
	p.crumbs = p.crumbs[:0]
	return size
}

// breadcrumbs writes the breadcrumbs, oldest first.
func (p *payloadWriter) breadcrumbs() {
	crumbs, from := p.parts.crumbs, p.parts.json.Buf
	if len(crumbs) == 0 {
		return
	}
	p.list("breadcrumbs", func() {
		for i := len(crumbs) - 1; i >= 0; i-- {
			c := &crumbs[i]
			p.next()
			p.Buf = append(p.Buf, from[c.head.from:c.head.to]...)
			p.Buf = append(p.Buf, from[c.data.from:c.data.to]...)
			p.ObjEnd()
		}
	})
}

// CrumbTime is a breadcrumb's time, the zero time for one that cannot be shown.
func CrumbTime(at time.Time, ok bool) time.Time {
	if !ok || at.Year() < 1970 || at.Year() > 9999 {
		return time.Time{}
	}
	return at.UTC()
}
