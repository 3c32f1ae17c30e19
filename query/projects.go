package query

import (
	"slices"
	"strconv"
	"strings"
)

// Projects say which projects an answer is about. The zero value is all projects.
// One that lists none gives nothing: [Projects.And] of different ones is that.
type Projects struct {
	listed  bool
	numbers []uint64 // ascending, each once; never changed
}

// OnlyProjects are those with the numbers, none without a number. 0 stands for
// records whose project is not known.
func OnlyProjects(numbers ...uint64) Projects {
	numbers = slices.Clone(numbers)
	slices.Sort(numbers)
	return Projects{listed: true, numbers: slices.Compact(numbers)}
}

// And are the projects that both have.
func (p Projects) And(other Projects) Projects {
	switch {
	case !p.listed:
		return other
	case !other.listed:
		return p
	}
	both := slices.DeleteFunc(slices.Clone(p.numbers), func(number uint64) bool { return !other.Has(number) })
	return Projects{listed: true, numbers: both}
}

// Has says whether the project with the number is among them.
func (p Projects) Has(number uint64) bool {
	_, found := slices.BinarySearch(p.numbers, number)
	return found || !p.listed
}

// All says that every project is meant.
func (p Projects) All() bool { return !p.listed }

// None says that no project is meant.
func (p Projects) None() bool { return p.listed && len(p.numbers) == 0 }

// Equal says whether both are the same projects.
func (p Projects) Equal(other Projects) bool {
	return p.listed == other.listed && slices.Equal(p.numbers, other.numbers)
}

// noProjects is the text of no project; the text of all projects is empty.
const noProjects = "none"

// String lists the numbers, as a command on the log keeps them.
func (p Projects) String() string {
	if p.None() {
		return noProjects
	}
	texts := make([]string, len(p.numbers))
	for i, number := range p.numbers {
		texts[i] = strconv.FormatUint(number, 10)
	}
	return strings.Join(texts, ",")
}

// parseProjects reads what String writes.
func parseProjects(text string) (Projects, error) {
	var numbers []uint64
	for one := range strings.SplitSeq(text, ",") {
		if one == noProjects && len(text) == len(noProjects) {
			break
		}
		number, err := strconv.ParseUint(one, 10, 64)
		if err != nil {
			return Projects{}, err
		}
		numbers = append(numbers, number)
	}
	return OnlyProjects(numbers...), nil
}

// fragments are the condition on the column project, if there is one.
func (p Projects) fragments() []fragment {
	if p.All() {
		return nil
	}
	return []fragment{{name: "projects", args: []any{bind("projects", append([]uint64{}, p.numbers...))}}}
}
