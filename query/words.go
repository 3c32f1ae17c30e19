package query

import (
	"strings"
	"unicode"
)

// maxWords bounds the words of a search. Each is looked up in the records and in
// their contexts. Who pastes a longer text can put it into double quotes.
const maxWords = 16

// words are the parts of a search that must all occur. Blanks separate them; a text in
// double quotes is one word with its blanks. A quote that nothing closes, and one
// within a word, is a plain character.
func words(search string) (all []string) {
	for {
		search = strings.TrimLeftFunc(search, unicode.IsSpace)
		if search == "" {
			return all
		}
		if inside, quoted := strings.CutPrefix(search, `"`); quoted {
			if phrase, rest, closed := strings.Cut(inside, `"`); closed {
				if phrase != "" {
					all = append(all, phrase)
				}
				search = rest
				continue
			}
		}
		end := strings.IndexFunc(search, unicode.IsSpace)
		if end < 0 {
			end = len(search)
		}
		all = append(all, search[:end])
		search = search[end:]
	}
}

// blanks makes every kind of white space that texts do not have a blank: what records
// and contexts are searched in has none of them.
var blanks = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ")
