package querytest

import (
	"cmp"
	"slices"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
)

// Select is every record that matches the filter, in order. Ties are broken by
// id, in the same direction. seen has the context of a record.
func Select(records []errata.Record, seen func(errata.Record) Seen, f query.Filter, order query.Order, direction query.Direction) []errata.Record {
	return Prepare(records, seen).Select(f, order, direction)
}

// Select is every record that matches the filter, in order, as [Select].
func (all Ready) Select(f query.Filter, order query.Order, direction query.Direction) []errata.Record {
	var found []errata.Record
	matching := all.Matching(f)
	Sort(matching, order, direction)
	for _, r := range matching {
		found = append(found, *r)
	}
	return found
}

// Sort sorts records. Ties are broken by id, in the same direction.
func Sort(found []*errata.Record, order query.Order, direction query.Direction) {
	slices.SortFunc(found, func(a, b *errata.Record) int {
		c := cmp.Or(compareBy(a, b, order), cmp.Compare(a.ID, b.ID))
		if direction == query.Descending {
			return -c
		}
		return c
	})
}

// compareBy compares by the field of the order; for the order by id it says
// equal.
func compareBy(a, b *errata.Record, order query.Order) int {
	switch order {
	case query.OrderLastSeen:
		return a.LastSeen.Compare(b.LastSeen)
	case query.OrderFirstSeen:
		return a.FirstSeen.Compare(b.FirstSeen)
	case query.OrderCount:
		return cmp.Compare(a.Count, b.Count)
	case query.OrderLevel:
		return cmp.Compare(a.Level, b.Level)
	case query.OrderType:
		return cmp.Compare(a.Book, b.Book)
	case query.OrderFile:
		return strings.Compare(a.File, b.File)
	case query.OrderLine:
		return cmp.Compare(a.Line, b.Line)
	case query.OrderMessage:
		return strings.Compare(a.Message, b.Message)
	case query.OrderClass:
		return strings.Compare(a.Class, b.Class)
	case query.OrderUserID:
		return cmp.Compare(a.UserID, b.UserID)
	case query.OrderID:
		return 0
	}
	panic("no such order: " + order)
}
