package ingest

import (
	"slices"

	"github.com/go-faster/jx"

	"github.com/errata-log/errata/ingest/lenient"
	"github.com/errata-log/errata/projects"
)

// parts are the members of a payload that it loses first, written as JSON once.
type parts struct {
	contexts, extra []byte
	crumbs          []crumb // newest first
	around          []span  // by the number of the frame
	lost            []string

	json    jx.Writer // has crumbs and around
	lines   []byte    // the source lines of a frame
	headers []Pair
	memo    memo

	rules *Rules
	keep  projects.Context
}

// span is a part of the JSON.
type span struct{ from, to int }

func (s span) len() int { return s.to - s.from }

const (
	// maxRawExtra is how much of an object is scrubbed, in bytes. What is left is
	// smaller: blanks are removed.
	maxRawExtra = 4 * MaxExtra
	// maxCrumbs and maxAround bound the breadcrumbs, and the source lines and variables
	// of an event. Older breadcrumbs lose their data first, outer calls their lines.
	maxCrumbs = 24 << 10
	maxAround = 24 << 10
	// roomForNames is more than all names in "truncated" need.
	roomForNames = 128
)

// make writes the parts of the draft that the project keeps.
func (p *parts) make(r *Rules, d *Draft, keep projects.Context) {
	p.json.Reset()
	*p = parts{crumbs: p.crumbs[:0], around: p.around[:0], lost: p.lost[:0], json: p.json, lines: p.lines, headers: p.headers, memo: p.memo, rules: r, keep: keep}
	c := &d.Context
	for _, name := range c.Lost {
		p.lose(name)
	}
	if !keep.NoExtra {
		p.makeExtra(c)
	}
	if !keep.NoBreadcrumbs {
		p.makeCrumbs(c.Breadcrumbs)
	}
	p.makeAround(c.Exceptions)
}

// lose remembers that a member is not complete, unless the project does not keep it.
func (p *parts) lose(name string) {
	off := false
	switch name {
	case "extra", "contexts":
		off = p.keep.NoExtra
	case "breadcrumbs":
		off = p.keep.NoBreadcrumbs
	case "vars":
		off = p.keep.Vars == projects.VarsOff
	}
	if !off && !slices.Contains(p.lost, name) {
		p.lost = append(p.lost, name)
	}
}

// drop drops parts of at least so many bytes, or all, in the order in which they matter
// least. It says whether there was anything to drop.
func (p *parts) drop(over int) (some bool) {
	over += roomForNames
	for _, dropNext := range [...]func(*parts) int{(*parts).dropExtra, (*parts).dropData, (*parts).dropCrumbs, (*parts).dropAround} {
		if over <= 0 {
			break
		}
		size := dropNext(p)
		over -= size
		some = some || size > 0
	}
	return some
}

func (p *parts) dropExtra() (size int) {
	if len(p.contexts) > 0 {
		p.lose("contexts")
	}
	if len(p.extra) > 0 {
		p.lose("extra")
	}
	size = len(p.contexts) + len(p.extra)
	p.contexts, p.extra = nil, nil
	return size
}

// makeExtra scrubs contexts and extra, which share their room.
func (p *parts) makeExtra(c *Context) {
	if c.Contexts != nil {
		if kept := c.Contexts.scrubbed(p.rules, &p.memo); string(kept) != "{}" {
			p.contexts = p.fit("contexts", kept, MaxExtra)
		}
	}
	if len(c.Extra) == 0 {
		return
	}
	limit, raw := MaxExtra-len(p.contexts), maxRawExtra
	if c.ExtraWhole {
		limit, raw = MaxContext, 2*MaxContext
	}
	var kept []byte
	if len(c.Extra) <= raw {
		kept, _ = p.rules.object(c.Extra) // the error is that it is no object, or too deep or wide
	}
	p.extra = p.fit("extra", kept, limit)
}

// scrubbed is the object without its secrets, empty if it cannot be kept.
func (s *Shared) scrubbed(r *Rules, m *memo) []byte {
	if s.clean == nil {
		s.clean = []byte{}
		if len(s.Raw) <= maxRawExtra {
			if kept := r.contexts(s.Raw, m); kept != nil {
				s.clean = kept
			}
		}
	}
	return s.clean
}

// fit is the object without the members for which there is no room, and without those
// about users where the project keeps none; nil when nothing is left.
func (p *parts) fit(of string, object []byte, limit int) []byte {
	if len(object) == 0 {
		p.lose(of)
		return nil
	}
	if len(object) <= limit && !p.keep.NoUsers {
		return object
	}
	var kept jx.Writer
	kept.ObjStart()
	in := lenient.Read(object)
	_ = lenient.Object(in, in, func(in *lenient.Reader, key []byte) error { // the scrubber wrote it
		raw, err := in.Raw()
		switch {
		case p.keep.NoUsers && isUserKey(string(key)):
		case len(kept.Buf)+len(key)+len(raw)+len(`,"":}`) > limit:
			p.lose(of)
		default:
			next(&kept)
			kept.FieldStart(string(key))
			kept.Raw(raw)
		}
		return err
	})
	kept.ObjEnd()
	if len(kept.Buf) == len("{}") {
		return nil
	}
	return kept.Buf
}

// part writes a member that is JSON already, unless it is empty.
func (p *payloadWriter) part(key string, value []byte) {
	if len(value) > 0 {
		p.name(key)
		p.Raw(value)
	}
}
