package query

import (
	"net/netip"
	"time"

	errata "github.com/errata-log/errata"
)

// Filter selects records. Each field that is set narrows the result; a zero
// value does not. [Parse] makes a filter from query parameters.
type Filter struct {
	// Search is words that must all occur, each in the message, the exception class,
	// the file with its line, the request URI, the class or the message of a cause or
	// the transaction, or as the first digits of the signature, or as the whole id of
	// the first event. Case does not matter. A text in double quotes is one word.
	Search string
	Books  []errata.Book
	Levels []errata.Level
	// Signature selects one problem. Each book may have a record of it.
	Signature *errata.Signature
	// Projects are those whose records are meant.
	Projects Projects
	// Environments and Releases are those whose occurrences count; see
	// [Filter.Scoped]. Then MinOccurrence, From and To go by these occurrences.
	Environments, Releases Names
	// Tags must all hold for one occurrence; only such occurrences count.
	Tags []errata.Tag
	// EventID is the id of an occurrence, with or without dashes.
	EventID string

	// File, Class, URI and Message are patterns: texts that the field contains.
	// Case does not matter; * matches any text, also an empty one. Message is compared
	// with the preview and with the whole message of the first event.
	File, Class, URI, Message string

	// Method is the whole request method. Case does not matter.
	Method string
	// UserID is the user's number; 0 selects the records without a known user.
	UserID *int64
	// IP is a prefix that contains the record's address. A single address is a
	// prefix of full length; an IPv6 prefix contains no IPv4 address.
	IP       netip.Prefix
	Statuses []errata.Status
	// MinOccurrence is the smallest count.
	MinOccurrence uint64
	// From and To bound the last sighting, both inclusive, to the millisecond.
	From, To time.Time

	// HideNoise leaves out muted records, levels below warning, and records that a
	// noise rule of their project has marked.
	HideNoise bool

	// among is one more condition, nil for none.
	among *fragment
	// since leaves out occurrences before a time, see sinceOnly.
	since time.Time
	// unmatched says that the statements about occurrences look up the records that do not
	// match, see lookup.
	unmatched bool
}

// Page says which part of the result is wanted, and in what order.
type Page struct {
	Order     Order
	Direction Direction
	// Number counts from 1.
	Number int
	// Limit is the number of records on a page, 1 to [MaxLimit].
	Limit int
}

const (
	// DefaultLimit is the limit of a page for which the caller sets none.
	DefaultLimit = 25
	// MaxLimit is the highest limit of a page.
	MaxLimit = 100
	// maxNumber keeps the offset far below an overflow; no list has so many pages.
	maxNumber = 1_000_000_000
)

// normal is the page with its defaults filled in and its numbers in bounds.
func (p Page) normal() Page {
	if p.Order == "" {
		p.Order = OrderLastSeen
	}
	if p.Direction == "" {
		p.Direction = Descending
	}
	p.Number = min(max(p.Number, 1), maxNumber)
	if p.Limit < 1 {
		p.Limit = DefaultLimit
	}
	p.Limit = min(p.Limit, MaxLimit)
	return p
}

func (p Page) offset() uint64 { return uint64(p.Number-1) * uint64(p.Limit) }

// Order is the field that a list is sorted by. Ties are broken by id, in the
// same direction. Texts are compared by byte, levels by severity.
type Order string

// The orders, by their names in the API.
const (
	OrderLastSeen  Order = "last_seen"
	OrderFirstSeen Order = "first_seen"
	OrderCount     Order = "count"
	OrderID        Order = "id"
	OrderLevel     Order = "level"
	OrderType      Order = "type"
	OrderFile      Order = "file"
	OrderLine      Order = "line"
	OrderMessage   Order = "message"
	OrderClass     Order = "exception_class"
	OrderUserID    Order = "user_id"
)

// Orders are all orders, the default first.
var Orders = []Order{
	OrderLastSeen, OrderFirstSeen, OrderCount, OrderID, OrderLevel, OrderType,
	OrderFile, OrderLine, OrderMessage, OrderClass, OrderUserID,
}

// Direction is the direction of an [Order].
type Direction string

// The directions, by their names in the API.
const (
	Descending Direction = "desc"
	Ascending  Direction = "asc"
)

// reversed is the other direction.
func (d Direction) reversed() Direction {
	if d == Ascending {
		return Descending
	}
	return Ascending
}
