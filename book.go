package errata

import "strings"

// Book is one of the two separate ledgers that records are kept in. The values
// are those of the ClickHouse column, where 0 marks the projector's checkpoint.
type Book uint8

// The books. The zero Book means "not said"; ingest decides by inference.
const (
	BookUnknown  Book = 0
	BookSystem   Book = 1
	BookDatabase Book = 2
)

// Books are all the books that hold records, in the order they are shown.
var Books = []Book{BookSystem, BookDatabase}

// String is the book's name in the API: "system" or "database".
func (b Book) String() string {
	switch b {
	case BookSystem:
		return "system"
	case BookDatabase:
		return "database"
	default:
		return ""
	}
}

// ParseBook reads a book's name in any case. ok is false for any other text.
func ParseBook(name string) (b Book, ok bool) {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "system":
		return BookSystem, true
	case "database":
		return BookDatabase, true
	default:
		return BookUnknown, false
	}
}
