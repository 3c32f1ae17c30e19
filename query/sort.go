package query

import "strings"

// sortColumn is the column behind an [Order].
type sortColumn struct {
	name string
	// number is an expression of the column as a signed or unsigned number
	// that grows with it, "" for texts.
	number string
}

// Parts of the column row_key.
const (
	keyLastSeen = "reinterpretAsInt64(substring(row_key, 1, 8))"
	keyID       = "reinterpretAsUInt64(substring(row_key, 9, 8))"
)

// sortColumns is the one table from orders to columns: nothing that a caller
// sends becomes part of an ORDER BY.
var sortColumns = map[Order]sortColumn{
	OrderLastSeen:  {"last_seen", keyLastSeen},
	OrderFirstSeen: {"first_seen", "toUnixTimestamp64Milli(first_seen)"},
	OrderCount:     {"count", "count"},
	OrderID:        {"id", keyID},
	OrderLevel:     {"level", "toInt8(level)"},
	OrderType:      {"book", "toInt8(book)"},
	OrderFile:      {"file", ""},
	OrderLine:      {"line", "line"},
	OrderMessage:   {"message_preview", ""},
	OrderClass:     {"exception_class", ""},
	OrderUserID:    {"user_id", "user_id"},
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

// sortKeys are the same order as numbers that sort upwards; ok is false for an
// order by text, which has none. bitNot turns the order around and, other than
// a minus, has no number that it cannot turn.
func sortKeys(order Order, direction Direction) (keys string, ok bool) {
	number := sortColumns[order].number
	if number == "" {
		return "", false
	}
	if direction == Ascending {
		return number + ", " + keyID, true
	}
	return "bitNot(" + number + "), bitNot(" + keyID + ")", true
}
