package projector

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"

	"github.com/go-faster/jx"

	errata "github.com/errata-log/errata"
)

// searched reads from contexts what a search sees of them: the columns words and event_id of the
// table contexts. ClickHouse finds out the same (migration 19) in ten times the time: it parses
// each context twice, and to its end. Contexts with a text that is not ASCII are left to ClickHouse:
// what the lower case of a letter is, must not be said by two programs. Of what is not a context of
// a receiver, such as a text that is no JSON, both may read something else.
type searched struct {
	words   []byte // in lower case
	eventID []byte // 16 bytes, or none

	decoder *jx.Decoder
	wanted  contextMember // those that are still to be read
	// The texts of the context, and of the exception that was read last; causes are the lines of
	// those before it.
	id, message, transaction, class, said []byte
	causes                                []byte
}

// contextMember are members of a context.
type contextMember uint8

const (
	memberID contextMember = 1 << iota
	memberMessage
	memberExceptions
	memberTransaction
)

// memberKeys are the keys of the members as they stand in a context. The receivers write no blanks.
var memberKeys = [...]struct {
	member contextMember
	key    []byte
}{
	{memberID, []byte(`"event_id":`)}, {memberMessage, []byte(`"message":`)}, {memberExceptions, []byte(`"exceptions":`)},
	{memberTransaction, []byte(`"transaction":`)},
}

// memberOf is the member with a key, 0 for others.
func memberOf(key []byte) contextMember {
	switch string(key) {
	case "event_id":
		return memberID
	case "message":
		return memberMessage
	case "exceptions":
		return memberExceptions
	case "transaction":
		return memberTransaction
	default:
		return 0
	}
}

// previewLetters is how many letters of a message the row of its record has.
const previewLetters = 200

// errNotPlain: ClickHouse has to read the context.
var errNotPlain = errors.New("the context is not plain")

func newSearched() *searched { return &searched{decoder: jx.DecodeBytes(nil)} }

// read reads the context. It returns false if ClickHouse has to read it.
func (s *searched) read(payload []byte) bool {
	s.words, s.eventID, s.causes, s.wanted = s.words[:0], s.eventID[:0], s.causes[:0], 0
	if len(payload) == 0 {
		return true
	}
	s.id, s.message, s.transaction, s.class, s.said = s.id[:0], s.message[:0], s.transaction[:0], s.class[:0], s.said[:0]
	for _, m := range memberKeys {
		if bytes.Contains(payload, m.key) { // perhaps further inside
			s.wanted |= m.member
		}
	}
	s.decoder.ResetBytes(payload)
	if s.members() != nil {
		return false
	}
	if beyondPreview(s.message) {
		s.words = append(s.words, s.message...)
		oneLine(s.words)
	}
	oneLine(s.transaction)
	if s.causes = appendLine(s.causes, s.transaction); len(s.words)+len(s.causes) > 0 {
		s.words = append(s.words, '\n')
		s.words = append(s.words, bytes.TrimSuffix(s.causes, []byte{'\n'})...)
	}
	lower(s.words)
	s.readID()
	return true
}

// beyondPreview says whether the row of the record does not hold all of the message as it is.
func beyondPreview(message []byte) bool {
	return len(message) > previewLetters || bytes.ContainsAny(message, "\t\n") || bytes.HasPrefix(message, []byte{' '}) || bytes.HasSuffix(message, []byte{' '})
}

// oneLine makes blanks of line feeds and tabs.
func oneLine(text []byte) {
	for i, c := range text {
		if c == '\n' || c == '\t' {
			text[i] = ' '
		}
	}
}

// lower changes a text to lower case.
func lower(text []byte) {
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			text[i] = c + 'a' - 'A'
		}
	}
}

// appendLine appends a text that is not empty, and a line feed.
func appendLine(lines, text []byte) []byte {
	if len(text) == 0 {
		return lines
	}
	return append(append(lines, text...), '\n')
}

// readID takes the event id if it is a UUID, with hyphens anywhere.
func (s *searched) readID() {
	digits := s.id[:0]
	for _, c := range s.id {
		if c != '-' {
			digits = append(digits, c)
		}
	}
	if len(digits) != hex.EncodedLen(len(errata.EventID{})) {
		return
	}
	var id errata.EventID
	if _, err := hex.Decode(id[:], digits); err == nil {
		s.eventID = append(s.eventID, id[:]...)
	}
}

// members reads the texts of the context, and nothing behind the last of them.
func (s *searched) members() error {
	members, err := s.decoder.ObjIter()
	for err == nil && s.wanted != 0 && members.Next() {
		member := s.wanted & memberOf(members.Key())
		s.wanted &^= member
		switch member {
		case memberID:
			err = s.text(&s.id)
		case memberMessage:
			err = s.text(&s.message)
		case memberTransaction:
			err = s.text(&s.transaction)
		case memberExceptions:
			err = s.exceptions()
		default:
			err = s.decoder.Skip()
		}
	}
	return cmp.Or(err, members.Err())
}

// exceptions reads the texts of all exceptions but the last, which is the thrown one.
func (s *searched) exceptions() error {
	if s.decoder.Next() != jx.Array {
		return errNotPlain
	}
	all, err := s.decoder.ArrIter()
	for err == nil && all.Next() {
		oneLine(s.class)
		oneLine(s.said)
		s.causes = appendLine(appendLine(s.causes, s.class), s.said)
		s.class, s.said = s.class[:0], s.said[:0]
		err = s.exceptionMembers()
	}
	return cmp.Or(err, all.Err())
}

func (s *searched) exceptionMembers() error {
	if s.decoder.Next() != jx.Object {
		return errNotPlain
	}
	members, err := s.decoder.ObjIter()
	for err == nil && members.Next() {
		switch string(members.Key()) {
		case "class":
			err = s.text(&s.class)
		case "message":
			err = s.text(&s.said)
		default:
			err = s.decoder.Skip()
		}
	}
	return cmp.Or(err, members.Err())
}

// text reads a text of ASCII characters.
func (s *searched) text(to *[]byte) (err error) {
	if s.decoder.Next() != jx.String {
		return errNotPlain
	}
	if *to, err = s.decoder.StrAppend((*to)[:0]); err != nil {
		return err
	}
	for _, c := range *to {
		if c > '\x7f' {
			return errNotPlain
		}
	}
	return nil
}
