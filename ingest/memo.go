package ingest

import (
	"errors"

	"github.com/go-faster/jx"

	"github.com/errata-log/errata/ingest/lenient"
	"github.com/errata-log/errata/ingest/scrub"
)

// memo remembers texts that were scrubbed. Most events are of problems that were seen a
// moment ago, with the same source lines, variables and kinds of breadcrumbs. It is for
// one goroutine; the memory in which payloads are made has one.
type memo struct {
	by      *scrub.Scrubber
	texts   map[string]string
	members map[string]string // of objects, by the member as it came in braces
	names   map[string]nameKind
	size    int
	buf     []byte
}

// nameKind says what a variable's name means for its value.
type nameKind uint8

const (
	nameUnknown nameKind = iota
	nameKept
	nameSecret  // the value is a secret
	nameLeftOut // the name holds a secret or is too long
)

const (
	// maxMemo bounds a memo, in bytes of the texts. A full one begins again.
	maxMemo = 256 << 10
	// memoEntry is about what an entry needs beside its texts.
	memoEntry = 64
)

// room makes room for an entry of the rules and n bytes.
func (m *memo) room(by *scrub.Scrubber, n int) {
	if m.size += n + memoEntry; m.texts == nil || m.by != by || m.size > maxMemo {
		*m = memo{by: by, texts: map[string]string{}, members: map[string]string{}, names: map[string]nameKind{}, size: n + memoEntry, buf: m.buf}
	}
}

// lines is the text of several lines, cleaned and scrubbed.
func (m *memo) lines(by *scrub.Scrubber, text []byte) string {
	if kept, known := m.texts[string(text)]; known && m.by == by {
		return kept
	}
	own := string(text)
	kept := by.Text(clean(own, true))
	m.room(by, len(own)+len(kept))
	m.texts[own] = kept
	return kept
}

// maxWord is the longest word that is remembered, in bytes.
const maxWord = 64

// word is [Rules.Text] for a text that is mostly one of a few, such as a level.
func (m *memo) word(r *Rules, text string) string {
	if len(text) > maxWord {
		return r.Text(text, MaxTag, true)
	}
	if kept, known := m.texts[text]; known && m.by == r.Scrubber {
		return kept
	}
	kept := r.Text(text, MaxTag, true)
	m.room(r.Scrubber, len(text)+len(kept))
	m.texts[text] = kept
	return kept
}

// name says what the name of a variable means.
func (m *memo) name(r *Rules, name []byte) nameKind {
	if kind := m.names[string(name)]; kind != nameUnknown && m.by == r.Scrubber {
		return kind
	}
	own, kind := string(name), nameKept
	switch {
	case r.Text(own, MaxTag, false) != own:
		kind = nameLeftOut
	case r.Scrubber.SecretKey(own):
		kind = nameSecret
	}
	m.room(r.Scrubber, len(own))
	m.names[own] = kind
	return kind
}

// errNotAllObjects ends the reading of an object that has other values than objects.
var errNotAllObjects = errors.New("a value is no object")

// object is an object of objects without its secrets, nil if it cannot be kept. Most of
// its members, such as the device, are the same in all events of a sender.
func (m *memo) object(by *scrub.Scrubber, raw []byte) []byte {
	kept := make([]byte, 0, len(raw)+64)
	in := lenient.Read(raw)
	if in.Next() != jx.Object {
		return nil
	}
	err := lenient.Object(in, in, func(in *lenient.Reader, key []byte) error {
		if in.Next() != jx.Object {
			return errNotAllObjects // it may be a pair of a name and a value
		}
		value, err := in.Raw()
		if err == nil {
			kept, err = m.appendMember(kept, by, key, value)
		}
		return err
	})
	if errors.Is(err, errNotAllObjects) {
		kept, err = by.JSON(raw)
		if err != nil {
			return nil
		}
		return kept
	}
	if err != nil || !in.AtEnd() {
		return nil
	}
	if len(kept) == 0 {
		return []byte("{}")
	}
	kept[0] = '{'
	return append(kept, '}')
}

// maxMember is how many bytes a member may have to be remembered.
const maxMember = 2 << 10

// appendMember appends a comma and a member of an object, scrubbed.
func (m *memo) appendMember(to []byte, by *scrub.Scrubber, key, value []byte) ([]byte, error) {
	w := jx.Writer{Buf: m.buf[:0]}
	w.ObjStart()
	w.ByteStr(key)
	w.Buf = append(w.Buf, ':')
	w.Raw(value)
	w.ObjEnd()
	m.buf = w.Buf
	if kept, known := m.members[string(w.Buf)]; known && m.by == by {
		return append(append(to, ','), kept...), nil
	}
	kept, err := by.JSON(w.Buf)
	if err != nil {
		return to, err
	}
	kept = kept[1 : len(kept)-1] // without its braces
	if len(w.Buf) <= maxMember {
		m.room(by, len(w.Buf)+len(kept))
		m.members[string(w.Buf)] = string(kept)
	}
	return append(append(to, ','), kept...), nil
}
