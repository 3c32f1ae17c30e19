package query

import (
	"net/netip"
	"time"

	errata "github.com/errata-log/errata"
)

// Filter says which records are wanted. Each field narrows the result; its
// zero value does not. [Parse] makes one from query parameters.
type Filter struct {
	// Search is a text that message, exception class, file or request URI
	// contains in any case, or the first digits of the signature.
	Search string
	Books  []errata.Book
	Levels []errata.Level
	// Signature is one record's identity; a record of that signature may exist
	// in each book.
	Signature *errata.Signature

	// File, Class, URI and Message are patterns: a text that the field contains
	// in any case, where * stands for anything, also for nothing.
	File, Class, URI, Message string

	// Method is the whole request method in any case.
	Method string
	// UserID is the account; 0 finds what happened to nobody in particular.
	UserID *int64
	// IP holds the address of the record. One address is a prefix of full
	// length; an IPv6 prefix holds no IPv4 address.
	IP       netip.Prefix
	Statuses []errata.Status
	// MinOccurrence is the smallest count.
	MinOccurrence uint64
	// From and To bound the last sighting, both inclusive, in milliseconds.
	From, To time.Time

	// HideNoise leaves out muted records, levels below warning, and what
	// matches a pattern of Noise.
	HideNoise bool
	// Noise are patterns like Message's that are held against message, class,
	// file and request URI. They come from configuration, not from the caller.
	Noise []string
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
	// DefaultLimit is the contract's.
	DefaultLimit = 25
	// MaxLimit is the contract's, too.
	MaxLimit = 100
	// maxNumber keeps the offset far from an overflow; no list has so many pages.
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
