package exchange

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Databases do not agree on what a literal is. A backslash hides a quote in
// MySQL and not in standard SQL, # begins a comment here and is an operator
// there, and so on; nobody says which database a query is for. So a query is
// read once in every way that its characters leave open, and what is a literal
// in any of them is one. What such a disagreement costs is a part of the query
// that could have been kept, never a literal that is.

// dialect is one way to read a query.
type dialect uint8

const (
	backslashEscapes dialect = 1 << iota // \' does not end a text
	dollarQuotes                         // $$text$$ and $tag$text$tag$
	hashComments                         // # to the end of the line
	bareDashes                           // -- begins a comment without a blank behind it
	nestedComments                       // /* /* */ */
	quoteOperator                        // q'[text]'
)

// openQuestions are the ways to read that the text tells apart.
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
	// maxQuestions bounds the work: 2 to the power of them is how often a
	// query is read. Of a query with more, all is taken for a literal from the
	// first character on that could begin one.
	maxQuestions = 3
	// maxRounds bounds how often a result is read again; leaving out a comment
	// can put side by side what was apart. It nearly never happens.
	maxRounds = 4
)

// Classes of the bytes of a query; the higher one wins.
const (
	code = iota
	comment
	literal
)

// withoutValues is a query with "?" for each of its literals and without
// comments; identifiers, keywords and placeholders stay. It also gives the
// literals, longest first; all says whether these are all of them. Applied to
// its own result it changes nothing.
func withoutValues(query string) (clean string, literals []string, all bool) {
	seen := map[string]bool{}
	found := func(text string) { seen[text] = true }
	all = len(openQuestions(query)) <= maxQuestions
	for range maxRounds {
		clean = replaceValues(query, found)
		found = func(string) {}
		if clean == query {
			return clean, longestFirst(seen), all
		}
		query = clean
	}
	// Not stable: this is no query that anybody wrote.
	return "?", nil, false
}

func longestFirst(texts map[string]bool) []string {
	return slices.SortedFunc(maps.Keys(texts), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
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

// replaced writes the query by the classes of its bytes.
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
