package projects

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	errata "github.com/errata-log/errata"
)

// Set is all projects at one moment. It never changes. The zero Set is empty.
type Set struct{ byNumber map[uint64]Project }

// Get is the project with the number.
func (s Set) Get(number uint64) (p Project, found bool) {
	p, found = s.byNumber[number]
	return p, found
}

// SlugOf is the slug of the project with the number. Nobody has to have made the
// project; "" is that of number 0, which stands for unknown.
func (s Set) SlugOf(number uint64) string {
	if p, made := s.byNumber[number]; made {
		return p.Slug
	}
	if number == 0 {
		return ""
	}
	return numberedSlug(number)
}

// All are the projects in the order of their numbers.
func (s Set) All() []Project {
	return slices.SortedFunc(maps.Values(s.byNumber), func(a, b Project) int { return cmp.Compare(a.ID, b.ID) })
}

// With is the set with the project, in place of the one that had its number.
func (s Set) With(p Project) Set {
	next := make(map[uint64]Project, len(s.byNumber)+1)
	maps.Copy(next, s.byNumber)
	next[p.ID] = p
	return Set{next}
}

// withUsed is the set with a project for each number in use that has none. used says
// since when, the zero time for unknown.
func (s Set) withUsed(used map[uint64]time.Time) Set {
	next := maps.Clone(s.byNumber)
	if next == nil {
		next = map[uint64]Project{}
	}
	for number, since := range used {
		if _, made := next[number]; !made {
			next[number] = unnamed(number, errata.Instant(since))
		}
	}
	return Set{next}
}

// ErrNotFound says that there is no such project.
var ErrNotFound = errata.Errorf(errata.KindNotFound, "There is no project with this number or slug.")

// Find is the project with the number or the slug. Errors: not_found.
func (s Set) Find(ref string) (Project, error) {
	if number, err := strconv.ParseUint(ref, 10, 64); err == nil {
		if p, found := s.byNumber[number]; found {
			return p, nil
		}
	}
	for _, p := range s.byNumber {
		if p.Slug == strings.ToLower(ref) {
			return p, nil
		}
	}
	return Project{}, ErrNotFound
}

// hasSlug says whether a project other than the one with the number has the slug.
func (s Set) hasSlug(slug string, number uint64) bool {
	for _, p := range s.byNumber {
		if p.Slug == slug && p.ID != number {
			return true
		}
	}
	return false
}

// changed is the project after the patch, checked. Errors: see [Patch].
func (s Set) changed(p Project, patch Patch) (Project, error) {
	after := patch.apply(p)
	context, _ := patch.Context.Get()
	if err := cmp.Or(context.check(), after.check()); err != nil {
		return Project{}, err
	}
	if slug, sent := patch.Slug.Get(); sent {
		return after, s.checkSlug(slug, p.ID)
	}
	return after, nil
}
