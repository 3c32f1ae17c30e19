package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxAnswer bounds the text of an answer in bytes: what an agent reads costs it room for
// its work.
const MaxAnswer = 8 << 10

// maxDepth is deeper than any answer of the API, whose free parts have a depth of their own.
const maxDepth = 16

// step is one way of making an answer smaller.
type step struct {
	text  int // the longest text, in characters
	items int // the longest list, and half of the members of the largest object
	// without are members that are left out: what tells least goes first.
	without []string
}

// steps are tried in turn until the answer fits.
var steps = func() []step {
	free := []string{"extra", "contexts", "sdk", "os"}
	vars := slices.Concat(free, []string{"vars", "data", "args"})
	trail := slices.Concat(vars, []string{"breadcrumbs", "request", "pre", "post"})
	return []step{
		{4000, 1000, nil},
		{1000, 200, nil},
		{500, 60, free},
		{300, 30, vars},
		{200, 25, vars},
		{200, 25, trail},
		{120, 25, trail},
		{80, 12, trail},
		{60, 8, trail},
		{40, 4, trail},
		{24, 2, trail},
		{16, 1, trail},
	}
}()

// latestLast are lists whose last elements tell most: the thrown exception, the call that
// threw it, the last thing before it.
var latestLast = []string{"exceptions", "frames", "breadcrumbs"}

// fit encodes an object in at most MaxAnswer bytes. What does not fit is cut, and the
// member "cut" says what. Members named in whole are never cut.
func fit(object map[string]any, whole ...string) []byte {
	for i, s := range steps {
		c := cutter{step: s, lists: map[string]string{}}
		out := make(map[string]any, len(object)+1)
		for name, value := range object {
			if !slices.Contains(whole, name) {
				value = c.cut(name, value, 1)
			}
			out[name] = value
		}
		if marks := c.marks(); len(marks) > 0 {
			out["cut"] = marks
		}
		if text, err := encode(out); err == nil && len(text) <= MaxAnswer {
			return text
		} else if err != nil && i == len(steps)-1 {
			break
		}
	}
	// No answer of the API comes here; this bounds what a later one may hold.
	kept := map[string]any{"cut": []string{"everything: the answer is too large; open the link"}}
	for _, name := range whole {
		if text, isText := object[name].(string); isText {
			kept[name], _ = shorten(text, 300)
		}
	}
	text, _ := encode(kept)
	return text
}

// encode leaves <, > and & as they are: nobody puts the text into a page.
func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}

// cutter makes a smaller copy of a value, and remembers what it cut.
type cutter struct {
	step
	texts int
	left  []string          // names that were left out
	lists map[string]string // by name: how many of how many
}

func (c *cutter) cut(name string, value any, depth int) any {
	switch value := value.(type) {
	case string:
		short, was := shorten(value, c.text)
		if was {
			c.texts++
		}
		return short
	case []any:
		return c.cutList(name, value, depth)
	case map[string]any:
		return c.cutObject(name, value, depth)
	}
	return value
}

func (c *cutter) cutList(name string, list []any, depth int) any {
	if depth > maxDepth {
		c.leave(name)
		return nil
	}
	kept := list
	if n := c.items; len(list) > n {
		kept = list[:n]
		which := "the first"
		if slices.Contains(latestLast, name) {
			kept, which = list[len(list)-n:], "the last"
		}
		c.lists[name] = fmt.Sprintf("%s: %s %d of %d", name, which, n, len(list))
	}
	out := make([]any, len(kept))
	for i := range kept {
		out[i] = c.cut(name, kept[i], depth+1)
	}
	return out
}

func (c *cutter) cutObject(name string, object map[string]any, depth int) any {
	if depth > maxDepth {
		c.leave(name)
		return nil
	}
	most := 2*c.items + 8 // a record has two dozen members of its own
	if depth <= 2 {
		most = len(object)
	}
	out := make(map[string]any, len(object))
	for _, member := range slices.Sorted(maps.Keys(object)) {
		if slices.Contains(c.without, member) {
			c.leave(member)
			continue
		}
		if len(out) == most {
			c.lists[name] = fmt.Sprintf("%s: %d of %d members", name, most, len(object))
			break
		}
		short, _ := shorten(member, max(c.text, 40))
		out[short] = c.cut(member, object[member], depth+1)
	}
	return out
}

func (c *cutter) leave(name string) {
	name, _ = shorten(name, 40)
	if !slices.Contains(c.left, name) && len(c.left) < 16 {
		c.left = append(c.left, name)
	}
}

// maxMarks bounds what is said about cut lists.
const maxMarks = 8

// marks says in words what was cut.
func (c *cutter) marks() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(c.lists)) {
		if len(all) == maxMarks {
			all = append(all, "other lists")
			break
		}
		mark, _ := shorten(c.lists[name], 120)
		all = append(all, mark)
	}
	if len(c.left) > 0 {
		slices.Sort(c.left)
		all = append(all, "left out: "+strings.Join(c.left, ", "))
	}
	if c.texts > 0 {
		all = append(all, fmt.Sprintf("texts: %d were cut to %d characters and end in %q", c.texts, c.text, cutMark))
	}
	return all
}

// cutMark ends a text that was cut.
const cutMark = "…[cut]"

// shorten cuts a text to so many characters and marks that.
func shorten(text string, limit int) (string, bool) {
	if len(text) <= limit || utf8.RuneCountInString(text) <= limit {
		return text, false
	}
	n := 0
	for at := range text {
		if n == limit {
			return text[:at] + cutMark, true
		}
		n++
	}
	return text, false
}
