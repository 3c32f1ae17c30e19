package stacktrace

import (
	"slices"
	"strings"

	"github.com/errata-log/errata/ingest"
)

// maxGroupDepth is how deep groups within groups are followed: Python itself prints ten.
const maxGroupDepth = 10

// groupLine is between two members of a group, around their number.
const groupLine = "+----------------"

// Chain is what the text says of the thrown exception and of those below it, the thrown
// one last: its causes, and the members of an exception group as a tree. Of too many it
// keeps those nearest to the thrown one.
func Chain(text string, thrown ingest.Exception) []ingest.Exception {
	if !strings.Contains(text, "+-"+groupLine) {
		return append(Causes(text), thrown)
	}
	tree := grouped{thrown: thrown}
	tree.add(readGroups(text), -1)
	if !slices.ContainsFunc(tree.list, func(x ingest.Exception) bool { return x.Member.Group }) {
		return append(Causes(text), thrown) // a message that looks like one
	}
	slices.Reverse(tree.list)
	return tree.list
}

// printed is the traces of one exception of a group as Python prints it: those of its
// causes first, its own last.
type printed struct{ traces []*trace }

// trace is the lines of one exception, without the margin, and the members that follow.
type trace struct {
	lines   strings.Builder
	members []*printed
}

func newPrinted() *printed { return &printed{[]*trace{{}}} }

func (p *printed) last() *trace { return p.traces[len(p.traces)-1] }

// line adds a line without its margin. Behind one that says so comes another exception.
func (p *printed) line(text string) {
	if text == strings.Trim(directCause, "\n") || text == strings.Trim(whileCaught, "\n") {
		p.traces = append(p.traces, &trace{})
		return
	}
	p.last().lines.WriteString(text)
	p.last().lines.WriteByte('\n')
}

// readGroups reads a text with groups. A member stands two columns to the right of its
// group, behind a margin.
func readGroups(text string) *printed {
	open := []*printed{newPrinted()} // by depth
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		bare := strings.TrimLeft(line, " ")
		column := len(line) - len(bare)
		member := bare
		if strings.HasPrefix(bare, "+-+") { // the first one has a branch from the margin of its group in front
			member = bare[len("+-"):]
		}
		if strings.HasPrefix(member, groupLine+" ") {
			open = openMember(open, (column+len(bare)-len(member))/2, member)
			continue
		}
		depth := column / 2
		switch {
		case depth >= 1 && strings.HasPrefix(bare, groupLine): // the end of a group
			open = open[:min(len(open), max(depth-1, 1))]
		case depth > 1 && depth <= len(open) && strings.HasPrefix(bare, "|"):
			open = open[:depth]
			open[depth-1].line(strings.TrimPrefix(bare[1:], " "))
		case depth == 1 && strings.HasPrefix(bare, "|"), depth == 1 && strings.HasPrefix(bare, "+ "):
			open = open[:1]
			open[0].line(strings.TrimPrefix(bare[1:], " "))
		case len(open) == 1 || !strings.HasPrefix(bare, "|"):
			open = open[:1]
			open[0].line(line)
		}
	}
	return open[0]
}

// openMember begins a member. Python does not print those behind "...".
func openMember(open []*printed, depth int, line string) []*printed {
	depth = min(depth, len(open)+1)
	if depth < 2 || depth > maxGroupDepth+1 {
		return open
	}
	open = open[:depth-1]
	member := newPrinted()
	if !strings.HasPrefix(line, groupLine+" ...") {
		holder := open[depth-2].last()
		holder.members = append(holder.members, member)
	}
	return append(open, member)
}

// grouped collects exceptions, the thrown one first and each before those below it.
type grouped struct {
	thrown ingest.Exception
	list   []ingest.Exception
}

func (g *grouped) add(p *printed, parent int64) {
	for _, t := range slices.Backward(p.traces) {
		if len(g.list) == ingest.MaxExceptions {
			return
		}
		x := g.thrown
		if len(g.list) > 0 {
			if x = t.exception(); x.Class == "" {
				return
			}
		}
		x.Member = &ingest.Member{ID: int64(len(g.list)), Parent: parent, Group: len(t.members) > 0}
		g.list = append(g.list, x)
		parent = x.Member.ID
		for _, member := range t.members {
			g.add(member, parent)
		}
	}
}

func (t *trace) exception() ingest.Exception {
	text := t.lines.String()
	class, message := raised(text)
	frames, _ := Parse(text)
	return ingest.Exception{Class: class, Message: message, Frames: frames}
}
