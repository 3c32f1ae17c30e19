package query

import "slices"

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

// All says that every project is meant, None that no project is.
func (p Projects) All() bool  { return !p.listed }
func (p Projects) None() bool { return p.listed && len(p.numbers) == 0 }

// Equal says whether both are the same projects.
func (p Projects) Equal(other Projects) bool {
	return p.listed == other.listed && slices.Equal(p.numbers, other.numbers)
}

// fragments are the condition on the column project, if there is one.
func (p Projects) fragments() []fragment {
	if p.All() {
		return nil
	}
	return []fragment{{name: "projects", args: []any{bind("projects", append([]uint64{}, p.numbers...))}}}
}
