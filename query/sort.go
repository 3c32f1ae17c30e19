package query

import "strings"

// sortColumn is the column behind an [Order].
type sortColumn struct {
	name string
	// number is an SQL expression: the column as an unsigned number that sorts the
	// same. It is "" for texts.
	number string
}

// sortColumns has the column of each order. An ORDER BY is made from these texts
// only, never from what a caller sends.
var sortColumns = map[Order]sortColumn{
	OrderLastSeen:  {"last_seen", unsigned("toUnixTimestamp64Milli(last_seen)")},
	OrderFirstSeen: {"first_seen", unsigned("toUnixTimestamp64Milli(first_seen)")},
	OrderCount:     {"count", "count"},
	OrderID:        {"id", "id"},
	OrderLevel:     {"level", "toUInt8(level)"},
	OrderType:      {"book", "toUInt8(book)"},
	OrderFile:      {"file", ""},
	OrderLine:      {"line", "line"},
	OrderMessage:   {"message_preview", ""},
	OrderClass:     {"exception_class", ""},
	OrderUserID:    {"user_id", unsigned("user_id")},
}

// unsigned maps an Int64 to a UInt64 that sorts the same; the least becomes 0.
func unsigned(number string) string {
	return "bitXor(reinterpretAsUInt64(" + number + "), 9223372036854775808)"
}

// orderBy is the ORDER BY clause of page.sql. The id gives records with the same
// value one order; version and sign put the rows of one state together.
func orderBy(order Order, direction Direction) string {
	word := strings.ToUpper(string(Descending))
	if direction == Ascending {
		word = strings.ToUpper(string(Ascending))
	}
	const state = ", version DESC, sign ASC"
	if order == OrderID {
		return "id " + word + state
	}
	return sortColumns[order].name + " " + word + ", id " + word + state
}

// sortKey is the same order as two SQL expressions, of the column and of the id,
// that rise from the start of the list to its end. ok is false for texts, because
// no expression sorts them downwards.
func sortKey(order Order, direction Direction) (key string, ok bool) {
	number := sortColumns[order].number
	switch {
	case number == "":
		return "", false
	case direction == Ascending:
		return number + ", id", true
	default:
		return "bitNot(" + number + "), bitNot(id)", true
	}
}
