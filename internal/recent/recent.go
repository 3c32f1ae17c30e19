// Package recent remembers what was worked out for texts a moment ago. Most events are of
// problems that were just seen, so most of their texts are too.
//
// A [Table] is found by the exact bytes of a text, has a fixed number of places, and
// forgets by itself. It must not know what the texts mean. What it remembers depends on
// the text alone: whoever has settings that change the result needs a table for each of
// them. Who fills it decides what may stay in memory: no text with a secret.
package recent

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// ways is how many entries a place has, so that two texts that fall on it do not push each
// other out.
const ways = 4

// Table remembers a value for each of many texts. It takes no locks and is safe for
// concurrent use. A nil Table remembers nothing.
type Table[V any] struct {
	seed    maphash.Seed
	longest int
	places  []place[V]
}

// place is a cache line.
type place[V any] struct {
	// tags are parts of the hashes of the entries. They only spare looks at the entries.
	tags    [ways]atomic.Uint32
	entries [ways]atomic.Pointer[entry[V]]
	missed  atomic.Uint32 // tag of the last text that was not found, and one more for the second time
	next    atomic.Uint32 // number of the entry that is replaced next
}

// entry never changes.
type entry[V any] struct {
	text  string
	value V
}

// New makes a table of 4·2^bits entries for texts of at most longest bytes.
func New[V any](bits, longest int) *Table[V] {
	return &Table[V]{seed: maphash.MakeSeed(), longest: longest, places: make([]place[V], 1<<bits)}
}

// Place is where a text belongs that was not found.
type Place uint64

// Find is the value of the text. When it is not found, at is for [Table.Keep].
func (t *Table[V]) Find(text string) (value V, at Place, found bool) {
	if t == nil || len(text) > t.longest {
		return value, 0, false
	}
	return find(t, Place(maphash.String(t.seed, text)), text)
}

// FindBytes is Find for a text in bytes.
func (t *Table[V]) FindBytes(text []byte) (value V, at Place, found bool) {
	if t == nil || len(text) > t.longest {
		return value, 0, false
	}
	return find(t, Place(maphash.Bytes(t.seed, text)), text)
}

func find[V any, T string | []byte](t *Table[V], at Place, text T) (value V, _ Place, found bool) {
	p, tag := t.place(at), tagOf(at)
	for i := range p.tags {
		if p.tags[i].Load() == tag {
			if e := p.entries[i].Load(); e != nil && e.text == string(text) {
				return e.value, at, true
			}
		}
	}
	return value, at, false
}

// Keep remembers a text that was not found at the place, if it is the third time in a
// row: an entry costs memory, and most texts never come again after an event, in which
// they may stand twice. value gets a copy of the text, with which the value may share
// memory.
func (t *Table[V]) Keep(at Place, text string, value func(own string) V) {
	if t == nil || len(text) > t.longest || !t.again(at) {
		return
	}
	own := strings.Clone(text)
	t.set(at, own, value(own))
}

// KeepBytes is Keep for a text in bytes.
func (t *Table[V]) KeepBytes(at Place, text []byte, value func() V) {
	if t == nil || len(text) > t.longest || !t.again(at) {
		return
	}
	t.set(at, string(text), value())
}

func (t *Table[V]) set(at Place, own string, value V) {
	p := t.place(at)
	i := p.next.Add(1) % ways
	p.entries[i].Store(&entry[V]{own, value})
	p.tags[i].Store(tagOf(at))
}

// again says whether the text at the place was missed there the last times too.
func (t *Table[V]) again(at Place) bool {
	p, tag := t.place(at), tagOf(at)
	switch p.missed.Load() {
	case tag:
		p.missed.Store(tag + 1)
	case tag + 1:
		return true
	default:
		p.missed.Store(tag)
	}
	return false
}

func (t *Table[V]) place(at Place) *place[V] { return &t.places[uint64(at)&uint64(len(t.places)-1)] }

// tagOf is odd: 0 is the tag of no entry, and the next number says that a text was missed
// twice.
func tagOf(at Place) uint32 { return uint32(at>>32) | 1 }
