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
	// lookedFor has the hints of the searches at the places of their rarest pairs.
	lookedFor [pairPlaces]uint64
	of        *errata.Record
	// found are the hints of the pairs that the texts have, made says that they are known.
	found uint64
	made  bool
	// all are the texts in lower case, made when a search needs them.
	all []byte
}

// lookFor gives a search its hint: a bit, which stands at the place of the rarest pair of the
// searched text. Searches may share one: there are more searches than bits.
func (t *texts) lookFor(s *search, index int) {
	if len(s.text) == 0 {
		return
	}
	s.hint = 1 << (index % hints)
	if len(s.text) == 1 {
		s.hint = everyHint // it has no pair
		return
	}
	t.lookedFor[s.rarest()] |= s.hint
}

func (t *texts) set(r *errata.Record) { t.of, t.made, t.all = r, false, t.all[:0] }

// hints are those of the searches that the texts may have; a search whose hint is not
// among them is not there. That is told in a tenth of the time of a search.
func (t *texts) hints() uint64 {
	if !t.made {
		t.found, t.made = everyHint, true
		t.find(t.of.Message)
		t.find(t.of.Class)
		t.find(t.of.File)
	}
	return t.found
}

// find notes the hints of the text as strings.ToLower has it.
func (t *texts) find(text string) {
	place, every, found := uint16(0), byte(0), t.found
	for i := range len(text) {
		place = nextPlace(place, text[i])
		found |= t.lookedFor[place]
		every |= text[i]
	}
	if every >= utf8.RuneSelf {
		for _, c := range []byte(strings.ToLower(text)) { // which changes letters outside of ASCII too
			place = nextPlace(place, c)
			found |= t.lookedFor[place]
		}
	}
	t.found = found
}

// have says whether one of the texts has the searched one in it.
func (t *texts) have(s *search) bool {
	if len(s.text) == 0 {
		return true
	}
	if t.hints()&s.hint == 0 {
		return false
	}
	if len(t.all) == 0 {
		for _, text := range [...]string{t.of.Message, t.of.Class, t.of.File} {
			t.all = append(appendLower(t.all, text), betweenTexts)
		}
	}
	return bytes.Contains(t.all, s.text)
}

// appendLower appends the text as strings.ToLower has it.
func appendLower(to []byte, text string) []byte {
	begin := len(to)
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return append(to[:begin], strings.ToLower(text)...)
		}
		to = append(to, lower[text[i]])
	}
	return to
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
	hint uint64 // a bit
}

func newSearch(text string) search { return search{text: []byte(strings.ToLower(text))} }

// often are the bytes of texts, the most frequent ones first; others are rare.
const often = " etaoinsrl0123456789hdcumfpgwybvkxjqz"

// rarest is the place of that pair of the text which the fewest other texts have.
func (s *search) rarest() (place uint16) {
	rank := func(c byte) int {
		if at := strings.IndexByte(often, c); at >= 0 {
			return at
		}
		return len(often)
	}
	most, at := -1, uint16(0)
	for i := range s.text {
		at = nextPlace(at, s.text[i])
		if i == 0 {
			continue
		}
		if rare := rank(s.text[i-1]) + rank(s.text[i]); rare > most {
			most, place = rare, at
		}
	}
	return place
}

const (
	// hints is how many hints there are beside everyHint, which all texts have.
	hints     = 63
	everyHint = 1 << hints
	// pairPlaces is how many places there are for pairs of bytes: two letters have one of
	// their own, in which capitals are letters like others.
	pairBits   = 5
	pairPlaces = 1 << (2 * pairBits)
)

// nextPlace is the place of the pair that ends with c, behind that which ended before it.
func nextPlace(place uint16, c byte) uint16 {
	return (place<<pairBits | uint16(c)%(1<<pairBits)) % pairPlaces
}
