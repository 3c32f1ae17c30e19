package query

import "strings"

// sortColumn is the column behind an [Order].
type sortColumn struct {
	name string
	// number is an expression of the column as an unsigned number that grows with it,
	// "" for texts.
	number string
}

// sortColumns is the one table from orders to columns: nothing that a caller
// sends becomes part of an ORDER BY.
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

// unsigned moves an Int64 to where the least is 0.
func unsigned(number string) string {
	return "bitXor(reinterpretAsUInt64(" + number + "), 9223372036854775808)"
}

// orderBy is the ORDER BY clause of page.sql. The id makes the order total over
// records, version and sign bring the rows of one state together.
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

// sortKey is the same order as two expressions that grow as the list goes, of the
// order and of the id. ok is false for an order by text, which cannot be turned
// round.
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
