package exchange

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Databases differ in their literals. A backslash escapes a quote in MySQL and not
// in standard SQL, # begins a comment in one and is an operator in another, and so
// on. An entry does not say which database its query is for. So the query is read
// once in every dialect that its characters allow, and a literal of any of them
// is replaced. This can cost a part of the query that is no literal. It never
// keeps a literal.

// dialect is a set of the ways in which databases differ.
type dialect uint8

const (
	backslashEscapes dialect = 1 << iota // \' does not end a text
	dollarQuotes                         // $$text$$ and $tag$text$tag$
	hashComments                         // # to the end of the line
	bareDashes                           // -- begins a comment without a blank behind it
	nestedComments                       // /* /* */ */
	quoteOperator                        // q'[text]'
)

// openQuestions are the differences that matter for the text.
func openQuestions(s string) (open []dialect) {
	for _, q := range [...]struct {
		dialect dialect
		asked   bool
	}{
		{backslashEscapes, strings.Contains(s, `\`)},
		{dollarQuotes, strings.Count(s, "$") > 1},
		{hashComments, strings.Contains(s, "#")},
		{bareDashes, strings.Contains(s, "--")},
		{nestedComments, strings.Count(s, "/*") > 1},
		{quoteOperator, strings.Contains(s, "q'") || strings.Contains(s, "Q'")},
	} {
		if q.asked {
			open = append(open, q.dialect)
		}
	}
	return open
}

const (
	// maxQuestions bounds the work: with n questions a query is read 2^n times.
	// A query with more becomes one literal, from the first character that could
	// begin a literal.
	maxQuestions = 3
	// maxRounds bounds how often a result is read again. In rare cases, removing
	// a comment joins the characters on both sides to something new.
	maxRounds = 4
)

// Classes of the bytes of a query; the highest one counts.
const (
	code = iota
	comment
	literal
)

// withoutValues is a query with "?" for each literal and without comments;
// identifiers, keywords and placeholders stay. It also returns the literals,
// longest first; all says whether it knows all of them. It is idempotent.
func withoutValues(query string) (clean string, literals []string, all bool) {
	seen := map[string]bool{}
	found := func(text string) { seen[text] = true }
	all = len(openQuestions(query)) <= maxQuestions
	for range maxRounds {
		clean = replaceValues(query, found)
		found = func(string) {}
		if clean == query {
			literals = slices.SortedFunc(maps.Keys(seen), func(a, b string) int {
				return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
			})
			return clean, literals, all
		}
		query = clean
	}
	// It changes in every round, so it is no real query.
	return "?", nil, false
}

func replaceValues(query string, found func(string)) string {
	class := make([]uint8, len(query))
	open := openQuestions(query)
	end := len(query)
	if len(open) > maxQuestions {
		open = nil
		if first := strings.IndexAny(query, "'\"`\\$#-/"); first >= 0 {
			end = first
			for i := end; i < len(query); i++ {
				class[i] = literal
			}
		}
	}
	for way := range 1 << len(open) {
		var d dialect
		for i, question := range open {
			if way&(1<<i) != 0 {
				d |= question
			}
		}
		l := lexer{s: query[:end], dialect: d, class: class, found: found}
		l.run()
	}
	return replaced(query, class)
}

// replaced is the query with its literals and comments replaced, by their class.
func replaced(query string, class []uint8) string {
	var out strings.Builder
	out.Grow(len(query))
	for i := 0; i < len(query); {
		end := i + 1
		for end < len(query) && class[end] == class[i] {
			end++
		}
		switch class[i] {
		case literal:
			out.WriteByte('?')
		case comment:
			out.WriteByte(' ')
		default:
			out.WriteString(query[i:end])
		}
		i = end
	}
	return out.String()
}
