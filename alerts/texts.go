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

// texts are those of a record that rules search, in lower case: message, class and file. The
// memory is used again for the next record.
type texts struct {
	all []byte
	// has says which pairs of neighbouring bytes are there, by their place.
	has [pairPlaces]bool
}

func (t *texts) set(r *errata.Record) {
	t.all, t.has = t.all[:0], [pairPlaces]bool{}
	t.add(r.Message)
	t.all = append(t.all, betweenTexts)
	t.add(r.Class)
	t.all = append(t.all, betweenTexts)
	t.add(r.File)
}

// add appends the text as strings.ToLower has it.
func (t *texts) add(text string) {
	begin := len(t.all)
	t.all = append(t.all, text...)
	added, before := t.all[begin:], byte(betweenTexts)
	for i, c := range added {
		if c >= utf8.RuneSelf {
			t.all = t.all[:begin]
			t.addOther(text)
			return
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
			added[i] = c
		}
		t.has[pairPlace(before, c)] = true
		before = c
	}
}

// addOther is add for letters outside of ASCII.
func (t *texts) addOther(text string) {
	text = strings.ToLower(text)
	for i := 1; i < len(text); i++ {
		t.has[pairPlace(text[i-1], text[i])] = true
	}
	t.all = append(t.all, text...)
}

// have says whether one of the texts has the searched one in it.
func (t *texts) have(s *search) bool {
	for _, place := range s.pairs {
		if !t.has[place] {
			return false
		}
	}
	return bytes.Contains(t.all, s.text)
}

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
