package noise

import (
	"net/netip"
	"strings"
	"sync"

	"github.com/errata-log/errata/projects"
)

// Sighting is what rules look at: an event as its record shows it, after its secrets
// were removed.
type Sighting struct {
	Class, Message, Release, UserAgent, Logger string
	// File is the file of the record. Sent is the same file as the client wrote it,
	// with scheme and host, by which the code of a browser extension is told.
	File, Sent string
	IP         netip.Addr // the zero Addr when unknown
}

// Verdict is what the rules do to an event.
type Verdict struct {
	// Drop: the event is counted and not kept.
	Drop bool
	// Mute: a record that begins with the event is muted.
	Mute bool
	// Noise: a record that begins with the event is hidden by hide_noise.
	Noise bool
}

// Rules are the compiled rules of a project. They never change. nil has none.
type Rules struct{ rules []rule }

// rule is one compiled rule.
type rule struct {
	field  string
	does   Verdict
	parts  []string     // lower case, in the order in which the field contains them
	prefix netip.Prefix // of a rule for addresses; then parts is empty unless it has an asterisk
	whole  bool         // the parts must be the whole field, as with addresses
	// begins and ends say, for whole, that no asterisk stands at this end.
	begins, ends bool
}

// Compile makes rules ready, with the rules of the sets that they name. A rule that this
// version does not know does nothing: a newer one has written it.
func Compile(list []projects.Rule) *Rules {
	compiled := &Rules{}
	for _, given := range projects.Expand(list) {
		if one, ok := compile(given); ok {
			compiled.rules = append(compiled.rules, one)
		}
	}
	if len(compiled.rules) == 0 {
		return nil
	}
	return compiled
}

func compile(given projects.Rule) (r rule, ok bool) {
	switch given.Action {
	case "drop":
		r.does.Drop = true
	case "mute":
		r.does.Mute = true
	case "noise":
		r.does.Noise = true
	default:
		return rule{}, false
	}
	r.field = given.Field
	if r.field == "ip" {
		r.whole, r.begins, r.ends = true, !strings.HasPrefix(given.Match, "*"), !strings.HasSuffix(given.Match, "*")
		if prefix, err := projects.AddressRule(given.Match); err == nil {
			r.prefix = prefix
			return r, true
		}
	}
	for part := range strings.SplitSeq(strings.ToLower(given.Match), "*") {
		if part != "" {
			r.parts = append(r.parts, part)
		}
	}
	return r, len(r.parts) > 0
}

// Decide says what the rules do to the event: what any rule that matches it does. The
// order of the rules does not matter.
func (r *Rules) Decide(s *Sighting) (v Verdict) {
	if r == nil {
		return v
	}
	lower := folded{of: s}
	for i := range r.rules {
		one := &r.rules[i]
		if !one.matches(&lower) {
			continue
		}
		if one.does.Drop {
			return Verdict{Drop: true}
		}
		v.Mute, v.Noise = v.Mute || one.does.Mute, v.Noise || one.does.Noise
	}
	return v
}

func (r *rule) matches(f *folded) bool {
	if r.prefix.IsValid() {
		return f.of.IP.IsValid() && r.prefix.Contains(f.of.IP.Unmap())
	}
	text := f.text(r.field)
	if r.field == "file" && contains(f.text(sentFile), r.parts) {
		return true
	}
	if r.whole {
		return r.isWhole(text)
	}
	return contains(text, r.parts)
}

// contains says whether the text has all parts, one behind the other.
func contains(text string, parts []string) bool {
	for _, part := range parts {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return true
}

// isWhole says whether the parts, with anything at the asterisks, are the whole text.
func (r *rule) isWhole(text string) bool {
	parts := r.parts
	if r.begins {
		rest, ok := strings.CutPrefix(text, parts[0])
		if !ok {
			return false
		}
		text, parts = rest, parts[1:]
		if len(parts) == 0 {
			return text == "" || !r.ends
		}
	}
	if r.ends {
		rest, ok := strings.CutSuffix(text, parts[len(parts)-1])
		if !ok {
			return false
		}
		text, parts = rest, parts[:len(parts)-1]
	}
	return contains(text, parts)
}

// sentFile is the name of [Sighting.Sent] among the texts.
const sentFile = "sent"

// folded has the texts of a sighting in lower case, each made once.
type folded struct {
	of    *Sighting
	names [8]string
	lower [8]string
	n     int
}

func (f *folded) text(field string) string {
	for i := range f.n {
		if f.names[i] == field {
			return f.lower[i]
		}
	}
	text := strings.ToLower(f.of.raw(field))
	f.names[f.n], f.lower[f.n] = field, text
	f.n++
	return text
}

func (s *Sighting) raw(field string) string {
	switch field {
	case "class":
		return s.Class
	case "message":
		return s.Message
	case "file":
		return s.File
	case sentFile:
		return s.Sent
	case "release":
		return s.Release
	case "user_agent":
		return s.UserAgent
	case "logger":
		return s.Logger
	case "ip":
		if s.IP.IsValid() {
			return s.IP.Unmap().String()
		}
	}
	return ""
}

// Book compiles the rules of projects, each list once. Its zero value is ready; it is
// safe for concurrent use.
type Book struct{ of sync.Map } // project → *page

// page is a list with what was compiled of it.
type page struct {
	list     []projects.Rule
	compiled *Rules
}

// Of are the compiled rules of the project whose list this is, nil for no rules. A list
// must not change; another list is another one.
func (b *Book) Of(project uint64, list []projects.Rule) *Rules {
	if len(list) == 0 {
		return nil
	}
	if known, ok := b.of.Load(project); ok {
		if p := known.(*page); len(p.list) == len(list) && &p.list[0] == &list[0] {
			return p.compiled
		}
	}
	p := &page{list, Compile(list)}
	b.of.Store(project, p)
	return p.compiled
}
