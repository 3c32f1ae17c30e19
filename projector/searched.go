package projector

import (
	"bytes"
	"encoding/hex"

	"github.com/go-faster/jx"

	errata "github.com/errata-log/errata"
)

// searched reads from contexts what a search sees of them: the columns words and event_id of the
// table contexts. ClickHouse finds out the same (migration 19), but parses each context twice, and
// takes five times as long. Contexts with a text that is not ASCII are left to ClickHouse: what the
// lower case of a letter is, must not be said by two programs. So are contexts in which a member is
// there twice or is no text. In what is no JSON, which no receiver writes, ClickHouse sees nothing and
// this may see something.
type searched struct {
	words   []byte // in lower case
	eventID []byte // 16 bytes, or none

	in  jsonScan
	met contextMember // those that were read
	// The texts of the context, and of the exception that was read last; causes are the lines of
	// those before it.
	id, message, transaction, class, said []byte
	causes                                []byte
	escapes                               *jx.Decoder
}

// contextMember are members of a context, or of one of its exceptions.
type contextMember uint8

const (
	memberID contextMember = 1 << iota
	memberMessage
	memberExceptions
	memberTransaction
	memberClass
	memberSaid
)

// previewLetters is how many letters of a message the row of its record has.
const previewLetters = 200

func newSearched() *searched { return &searched{escapes: jx.DecodeBytes(nil)} }

// read reads the context. It returns false if ClickHouse has to read it.
func (s *searched) read(payload []byte) bool {
	s.words, s.eventID, s.causes, s.met = s.words[:0], s.eventID[:0], s.causes[:0], 0
	if len(payload) == 0 {
		return true
	}
	s.id, s.message, s.transaction, s.class, s.said = s.id[:0], s.message[:0], s.transaction[:0], s.class[:0], s.said[:0]
	s.in.rest = payload
	if !s.in.members(s.member) || !s.in.ended() {
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

// member reads a member of the context.
func (s *searched) member(key []byte) bool {
	switch string(key) {
	case "event_id":
		return s.text(memberID, &s.id)
	case "message":
		return s.text(memberMessage, &s.message)
	case "transaction":
		return s.text(memberTransaction, &s.transaction)
	case "exceptions":
		return s.first(memberExceptions) && s.in.elements(s.exception)
	default:
		return s.in.pass()
	}
}

// exception reads the texts of an exception, and keeps those of the one before it: the last is the
// thrown one, which the row has.
func (s *searched) exception() bool {
	oneLine(s.class)
	oneLine(s.said)
	s.causes = appendLine(appendLine(s.causes, s.class), s.said)
	s.class, s.said = s.class[:0], s.said[:0]
	s.met &^= memberClass | memberSaid
	return s.in.members(s.exceptionMember)
}

func (s *searched) exceptionMember(key []byte) bool {
	switch string(key) {
	case "class":
		return s.text(memberClass, &s.class)
	case "message":
		return s.text(memberSaid, &s.said)
	default:
		return s.in.pass()
	}
}

// first is false for a second member of the same name.
func (s *searched) first(member contextMember) bool {
	again := s.met & member
	s.met |= member
	return again == 0
}

// text reads a member that is a text of ASCII characters.
func (s *searched) text(member contextMember, to *[]byte) bool {
	text, plain := s.in.text()
	if text == nil || !s.first(member) {
		return false
	}
	if plain {
		*to = append((*to)[:0], text[1:len(text)-1]...)
	} else {
		var err error
		s.escapes.ResetBytes(text)
		if *to, err = s.escapes.StrAppend((*to)[:0]); err != nil {
			return false
		}
	}
	for _, c := range *to {
		if c > '\x7f' {
			return false
		}
	}
	return true
}
