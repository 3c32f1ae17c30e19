package alerts

import (
	"bytes"
	"strings"
	"unicode/utf8"

	errata "github.com/errata-log/errata"
)

// betweenTexts stands between texts that are searched together. No rule searches for it:
// it is not in UTF-8.
const betweenTexts = 0xff

// texts has the texts of a record in which rules search: message, class and file. Its memory
// is used again for the next record.
type texts struct {
	of *errata.Record
	// has says which pairs of neighbouring bytes are there in lower case, by their place.
	has [pairPlaces]bool
	// all are the texts in lower case, made when a search needs them.
	all []byte
}

func (t *texts) set(r *errata.Record) {
	t.of, t.has, t.all = r, [pairPlaces]bool{}, t.all[:0]
	t.add(r.Message)
	t.add(r.Class)
	t.add(r.File)
}

// add notes the pairs of the text as strings.ToLower has it.
func (t *texts) add(text string) {
	before, every := byte(betweenTexts), byte(0)
	for i := range len(text) {
		c := lower[text[i]]
		t.has[pairPlace(before, c)] = true
		before, every = c, every|c
	}
	if every < utf8.RuneSelf {
		return
	}
	text = strings.ToLower(text) // which changes letters outside of ASCII too
	for i := 1; i < len(text); i++ {
		t.has[pairPlace(text[i-1], text[i])] = true
	}
}

// have says whether one of the texts has the searched one in it.
func (t *texts) have(s *search) bool {
	for _, place := range s.pairs {
		if !t.has[place] {
			return false
		}
	}
	if len(s.text) == 0 {
		return true
	}
	if len(t.all) == 0 {
		for _, text := range [...]string{t.of.Message, t.of.Class, t.of.File} {
			t.all = append(append(t.all, strings.ToLower(text)...), betweenTexts)
		}
	}
	return bytes.Contains(t.all, s.text)
}

// lower has each byte of ASCII in lower case.
var lower = func() (table [256]byte) {
	for c := range table {
		if table[c] = byte(c); 'A' <= c && c <= 'Z' {
			table[c] += 'a' - 'A'
		}
	}
	return table
}()

// search is a text to search for, in lower case.
type search struct {
	text []byte
	// pairs are the places of its pairs: texts that lack one do not have it. That is told
	// in a tenth of the time of a search.
	pairs []uint16
}

func newSearch(text string) (s search) {
	s.text = []byte(strings.ToLower(text))
	for i := 1; i < len(s.text); i++ {
		s.pairs = append(s.pairs, pairPlace(s.text[i-1], s.text[i]))
	}
	return s
}

// pairPlaces is how many places there are for pairs of bytes. The texts of a record fill a
// fifth of them.
const pairPlaces = 512

func pairPlace(a, b byte) uint16 { return (uint16(a)*37 + uint16(b)) % pairPlaces }
