package projects

import (
	"encoding/json"
	"slices"
	"strings"

	errata "github.com/errata-log/errata"
)

// Context says what of an event's context a project keeps. Its zero value is that of a
// new project: all, and of local variables their shapes. In JSON the switches say what
// is kept, and one that is missing is on: facts of versions before it have none.
type Context struct {
	NoSourceLines bool // the lines around a call
	NoBreadcrumbs bool
	NoExtra       bool // extra and contexts
	NoUsers       bool // who the user was; a keyed hash counts them all the same
	Vars          Vars
}

// Vars says what is kept of the local variables of frames.
type Vars uint8

// What is kept of variables.
const (
	VarsShapes Vars = iota // their names and shapes
	VarsOff                // nothing
	VarsValues             // their values, scrubbed and cut
)

// varsNames are the names of Vars.
var varsNames = [...]string{"shapes", "off", "values"}

// contextJSON is a Context in JSON.
type contextJSON struct {
	SourceLines bool   `json:"source_lines"`
	Breadcrumbs bool   `json:"breadcrumbs"`
	Extra       bool   `json:"extra"`
	Vars        string `json:"vars"`
	Users       bool   `json:"users"`
}

func (c Context) json() contextJSON {
	return contextJSON{!c.NoSourceLines, !c.NoBreadcrumbs, !c.NoExtra, c.Vars.String(), !c.NoUsers}
}

// String is the name of what is kept.
func (v Vars) String() string { return varsNames[min(int(v), len(varsNames)-1)] }

// MarshalJSON writes what is kept.
func (c Context) MarshalJSON() ([]byte, error) { return json.Marshal(c.json()) }

// UnmarshalJSON reads what is kept. A word for vars that this version does not know
// counts as the default: a project with it must stay readable.
func (c *Context) UnmarshalJSON(text []byte) error {
	said := Context{}.json()
	if err := json.Unmarshal(text, &said); err != nil {
		return err
	}
	*c = Context{NoSourceLines: !said.SourceLines, NoBreadcrumbs: !said.Breadcrumbs, NoExtra: !said.Extra, NoUsers: !said.Users}
	c.Vars, _ = parseVars(said.Vars)
	return nil
}

func parseVars(name string) (v Vars, known bool) {
	i := slices.Index(varsNames[:], name)
	return Vars(max(i, 0)), i >= 0
}

// ContextPatch changes the switches that were sent.
type ContextPatch struct {
	SourceLines errata.Optional[bool]   `json:"source_lines"`
	Breadcrumbs errata.Optional[bool]   `json:"breadcrumbs"`
	Extra       errata.Optional[bool]   `json:"extra"`
	Vars        errata.Optional[string] `json:"vars"`
	Users       errata.Optional[bool]   `json:"users"`
}

// apply is the context after the patch.
func (p ContextPatch) apply(to Context) Context {
	to.NoSourceLines, to.NoBreadcrumbs = !p.SourceLines.Or(!to.NoSourceLines), !p.Breadcrumbs.Or(!to.NoBreadcrumbs)
	to.NoExtra, to.NoUsers = !p.Extra.Or(!to.NoExtra), !p.Users.Or(!to.NoUsers)
	if name, sent := p.Vars.Get(); sent {
		to.Vars, _ = parseVars(name)
	}
	return to
}

// check says whether vars is a word that means something.
func (p ContextPatch) check() error {
	if name, sent := p.Vars.Get(); sent {
		if _, known := parseVars(name); !known {
			return invalid(errata.KindInvalidContext, "context.vars", "What is kept of variables is one of: %s.", strings.Join(varsNames[:], ", "))
		}
	}
	return nil
}
