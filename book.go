package errata

import (
	"slices"
	"strings"
)

// Book is one of the two separate ledgers for records. The values are those of
// the ClickHouse column, where 0 marks the projector's checkpoint.
type Book uint8

// The books. Ingest decides the book of an event with the zero Book.
const (
	BookUnknown  Book = 0
	BookSystem   Book = 1
	BookDatabase Book = 2
)

// Books are all books that hold records, in the order in which they are shown.
var Books = []Book{BookSystem, BookDatabase}

var bookNames = [...]string{BookUnknown: "", BookSystem: "system", BookDatabase: "database"}

// String is the book's name in the API: "system" or "database".
func (b Book) String() string {
	if int(b) < len(bookNames) {
		return bookNames[b]
	}
	return ""
}

// ParseBook reads a book's name in any case. ok is false for any other text.
func ParseBook(name string) (b Book, ok bool) {
	b = Book(max(0, slices.Index(bookNames[:], strings.ToLower(strings.TrimSpace(name)))))
	return b, b != BookUnknown
}
