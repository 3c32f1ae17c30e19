package alerts

import "slices"

// list is rules or channels, in the order in which they were made. It never changes.
type list[T interface{ id() string }] []T

func (l list[T]) index(id string) int {
	return slices.IndexFunc(l, func(one T) bool { return one.id() == id })
}

// Find is the one with the id.
func (l list[T]) Find(id string) (one T, found bool) {
	i := l.index(id)
	if i < 0 {
		return one, false
	}
	return l[i], true
}

// With is the list with one, in place of that which had its id.
func (l list[T]) With(one T) list[T] {
	next := slices.Clone(l)
	if i := next.index(one.id()); i >= 0 {
		next[i] = one
		return next
	}
	return append(next, one)
}

// Without is the list without the one with the id.
func (l list[T]) Without(id string) list[T] {
	return slices.DeleteFunc(slices.Clone(l), func(one T) bool { return one.id() == id })
}
