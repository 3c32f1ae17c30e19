package query

import (
	"bytes"
	"embed"
	"fmt"
	"net/netip"
	"strconv"
	"text/template"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

var sqlTemplates = template.Must(template.ParseFS(sqlFiles, "sql/*.sql"))

// statement is one query: text, arguments and the engine's settings for it.
type statement struct {
	text     string
	args     []any
	settings clickhouse.Settings
}

// fragment is one condition of the WHERE clause: a definition of filters.sql, the
// number that fills it in, and its arguments. Words of a search are numbered from 0. Of
// patterns the number is 1 if they have a wildcard inside, else 0.
type fragment struct {
	name   string
	number int
	args   []any
	// text is the condition itself, in place of a definition.
	text string
}

// bind is the argument for the parameter of that name.
func bind(name string, value any) driver.NamedValue { return clickhouse.Named(name, value) }

// fragments are the conditions of the filter, always in the same order, the
// cheapest first. ClickHouse may still choose another order.
func (f Filter) fragments() []fragment {
	var all []fragment
	add := func(set bool, name string, args func() []any) {
		if set {
			all = append(all, fragment{name: name, args: args()})
		}
	}
	add(len(f.Books) > 0, "books", func() []any { return []any{bind("books", names(f.Books))} })
	all = append(all, f.Projects.fragments()...)
	add(f.Signature != nil, "signature", func() []any { return []any{bind("signature", f.Signature.String())} })
	add(!f.From.IsZero(), "from", func() []any { return []any{bind("from", storable(f.From))} })
	add(!f.To.IsZero(), "to", func() []any { return []any{bind("to", storable(f.To))} })
	add(len(f.Levels) > 0, "levels", func() []any { return []any{bind("levels", names(f.Levels))} })
	add(len(f.Statuses) > 0, "statuses", func() []any { return []any{bind("statuses", texts(f.Statuses))} })
	add(f.MinOccurrence > 1, "min_occurrence", func() []any { return []any{bind("min_occurrence", f.MinOccurrence)} })
	add(f.HideNoise, "hide_noise", func() []any { return nil })
	add(f.Method != "", "method", func() []any { return []any{bind("method", f.Method)} })
	add(f.UserID != nil, "user_id", func() []any { return []any{bind("user_id", *f.UserID)} })
	all = append(all, addressFragments(f.IP)...)
	for _, pattern := range []struct{ name, text string }{
		{"class", f.Class}, {"file", f.File}, {"uri", f.URI}, {"message", f.Message},
	} {
		whole, part := likePattern(pattern.text)
		add(whole != "", pattern.name, func() []any { return []any{bind(pattern.name+"_part", part)} })
		if whole != part {
			wild := &all[len(all)-1]
			wild.number, wild.args = 1, append(wild.args, bind(pattern.name+"_like", whole))
		}
	}
	if f.EventID != "" {
		all = append(all, eventFragment("of_event", f.EventID))
	}
	all = append(all, searchFragments(f.Search)...)
	if f.among != nil {
		all = append(all, *f.among)
	}
	return all
}

func addressFragments(prefix netip.Prefix) []fragment {
	if !prefix.IsValid() {
		return nil
	}
	first := prefix.Masked().Addr()
	if prefix.IsSingleIP() {
		return []fragment{{name: "ip", args: []any{bind("ip", storedIP(first))}}}
	}
	last := first.AsSlice()
	for bit := prefix.Bits(); bit < first.BitLen(); bit++ {
		last[bit/8] |= 0x80 >> (bit % 8)
	}
	end, _ := netip.AddrFromSlice(last)
	name := "ip_prefix"
	if first.Is6() {
		name = "ip_prefix_v6"
	}
	return []fragment{{name: name, args: []any{bind("ip_first", storedIP(first)), bind("ip_last", storedIP(end))}}}
}

// storedIP is the address as the column stores it: IPv4 mapped into IPv6.
func storedIP(addr netip.Addr) string { return netip.AddrFrom16(addr.As16()).String() }

// searchFragments are one condition for each word.
func searchFragments(search string) (all []fragment) {
	for i, word := range words(search) {
		number := strconv.Itoa(i)
		found := fragment{name: "word", number: i, args: []any{bind("word_"+number, contains(word))}}
		if digits, ok := errata.ShortUUID(word); ok {
			found.name += "_id"
			found.args = append(found.args, bind("word_id_"+number, digits))
		}
		if first, last, ok := signatureRange(word); ok {
			found.name += "_hex"
			found.args = append(found.args, bind("word_first_"+number, first), bind("word_last_"+number, last))
		}
		all = append(all, found)
	}
	return all
}

// The column last_seen holds times of these years; others would wrap around.
var (
	firstStorable = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)
	lastStorable  = time.Date(2299, 12, 31, 23, 59, 59, 0, time.UTC)
)

// storable is the nearest time that a record can have, in Unix milliseconds.
func storable(t time.Time) int64 {
	return min(max(t.UnixMilli(), firstStorable.UnixMilli()), lastStorable.UnixMilli())
}

// statementData fills in the files of sql/. It has only text from filters.sql
// and sort.go, never a value.
type statementData struct {
	Filters []string
	Order   string
	Key     string
	ByID    bool
	// Records and Sums are the conditions of a scoped filter on the records, and on
	// the sums of their occurrences, which are in the table From.
	Records, Sums []string
	From          source
	// Unmatched says that Records are conditions on those that do not match.
	Unmatched bool
	// Grouped makes scoped_total.sql count in the way that takes less memory.
	Grouped bool
}

// build makes a statement from a file of sql/ and the fragments.
func build(file string, data statementData, fragments []fragment, settings clickhouse.Settings, args ...any) (statement, error) {
	filters, more, err := renderAll(fragments)
	if err != nil {
		return statement{}, err
	}
	data.Filters, args = filters, append(args, more...)
	text, err := render(file, data)
	if err != nil {
		return statement{}, err
	}
	return statement{text: text, args: args, settings: settings}, nil
}

// renderAll fills in definitions of filters.sql.
func renderAll(fragments []fragment) (texts []string, args []any, err error) {
	for _, f := range fragments {
		text := f.text
		if text == "" {
			if text, err = render(f.name, f.number); err != nil {
				return nil, nil, err
			}
		}
		texts, args = append(texts, text), append(args, f.args...)
	}
	return texts, args, nil
}

func render(name string, data any) (string, error) {
	var text bytes.Buffer
	if err := sqlTemplates.ExecuteTemplate(&text, name, data); err != nil {
		return "", fmt.Errorf("fill in %s: %w", name, err)
	}
	return text.String(), nil
}
