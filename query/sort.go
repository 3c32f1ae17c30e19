package query

import "strings"

// sortColumn is the column behind an [Order].
type sortColumn struct {
	name string
	// number is an expression of the column as a UInt64 that grows with it, "" for
	// texts and for what stands in list_key.
	number string
}

// sortColumns is the one table from orders to columns: nothing that a caller
// sends becomes part of an ORDER BY.
var sortColumns = map[Order]sortColumn{
	OrderLastSeen:  {"last_seen", ""},
	OrderFirstSeen: {"first_seen", unsigned("toUnixTimestamp64Milli(first_seen)")},
	OrderCount:     {"count", "count"},
	OrderID:        {"id", ""},
	OrderLevel:     {"level", "toUInt64(toUInt8(level))"},
	OrderType:      {"book", "toUInt64(toUInt8(book))"},
	OrderFile:      {"file", ""},
	OrderLine:      {"line", "toUInt64(line)"},
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

// Parts of the column list_key, whose numbers are inverted.
const (
	keyLastSeen = "substring(list_key, 1, 8)"
	keyID       = "substring(list_key, 9, 8)"
	// keyState are version, sign, signature and book.
	keyState = "substring(list_key, 17)"
)

// sortKey is the same order as bytes that sort upwards: eight of the order, eight
// of the id, and the state. ok is false for an order by text, which has none.
func sortKey(order Order, direction Direction) (key string, ok bool) {
	column := sortColumns[order]
	var downwards string // the bytes of the order
	switch {
	case order == OrderLastSeen:
		downwards = keyLastSeen
	case order == OrderID:
		downwards = keyID
	case column.number != "":
		downwards = "reverse(reinterpretAsFixedString(bitNot(" + column.number + ")))"
	default:
		return "", false
	}
	switch {
	case direction == Ascending:
		return "concat(bitNot(" + downwards + "), bitNot(" + keyID + "), " + keyState + ")", true
	case order == OrderLastSeen:
		return "list_key", true // as it is
	default:
		return "concat(" + downwards + ", " + keyID + ", " + keyState + ")", true
	}
}
