// Package nearest finds the name that somebody meant who wrote another one.
package nearest

import (
	"slices"
	"strings"
	"unicode"
)

// maxCompared bounds the names that are compared, in letters; the longest known one
// has 27.
const maxCompared = 32

// Name is the known name that somebody may have meant, "" when none is near: a
// name of which at most a third of the letters is different, else one that has the
// sent name as one of its words, as exception_class has class. Case and everything
// that is neither letter nor digit do not count: userId and user-id are user_id.
func Name(sent string, known []string) string {
	letters := lettersOf(sent)
	if len(letters) == 0 || len(letters) > maxCompared {
		return ""
	}
	best, least := "", len(letters)/3+1
	for _, name := range known {
		if d := distance(letters, lettersOf(name)); d < least {
			best, least = name, d
		}
	}
	if best != "" || len(letters) < 3 { // two letters stand in too many words
		return best
	}
	for _, name := range known {
		if slices.Contains(strings.FieldsFunc(name, notLetter), string(letters)) {
			return name
		}
	}
	return ""
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

func lettersOf(name string) []rune {
	var letters []rune
	for _, r := range strings.ToLower(name) {
		if !notLetter(r) {
			letters = append(letters, r)
		}
	}
	return letters
}

// distance is how many letters must be put in, taken out, replaced or swapped with
// the next one to make b of a.
func distance(a, b []rune) int {
	// Three rows of the table: before suffices for all but swaps, which need older.
	older, before, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range before {
		before[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			replaced := before[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(replaced, before[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
		older, before, row = before, row, older
	}
	return before[len(b)]
}
