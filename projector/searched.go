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
// table contexts. ClickHouse finds out the same (migration 19), with two parsers and in three times
// the time. Contexts with a text that is not ASCII are left to ClickHouse: what the lower case of a
// letter is, must not be said by two programs.
type searched struct {
	words   []byte // in lower case
	eventID []byte // 16 bytes, or none

	decoder *jx.Decoder
	met     contextMember // those that were read
	// The texts of the context, and of the exception that was read last; causes are the lines of
	// those before it.
	id, message, transaction, class, said []byte
	causes                                []byte
}

// contextMember are members of a context or of one of its exceptions. A second one of the same name is
// for ClickHouse to judge.
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

// errNotPlain: ClickHouse has to read the context.
var errNotPlain = errors.New("the context is not plain")

func newSearched() *searched { return &searched{decoder: jx.DecodeBytes(nil)} }

// read reads the context. It returns false if ClickHouse has to read it.
func (s *searched) read(payload []byte) bool {
	s.words, s.eventID, s.causes, s.met = s.words[:0], s.eventID[:0], s.causes[:0], 0
	if len(payload) == 0 {
		return true
	}
	s.id, s.message, s.transaction, s.class, s.said = s.id[:0], s.message[:0], s.transaction[:0], s.class[:0], s.said[:0]
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

// members reads the texts of the context.
func (s *searched) members() error {
	members, err := s.decoder.ObjIter()
	for err == nil && members.Next() {
		switch string(members.Key()) {
		case "event_id":
			err = s.text(memberID, &s.id)
		case "message":
			err = s.text(memberMessage, &s.message)
		case "transaction":
			err = s.text(memberTransaction, &s.transaction)
		case "exceptions":
			err = s.exceptions()
		default:
			err = s.decoder.Skip()
		}
	}
	return cmp.Or(err, members.Err())
}

// exceptions reads the texts of all exceptions but the last, which is the thrown one.
func (s *searched) exceptions() error {
	if err := s.once(memberExceptions, jx.Array); err != nil {
		return err
	}
	all, err := s.decoder.ArrIter()
	for err == nil && all.Next() {
		oneLine(s.class)
		oneLine(s.said)
		s.causes = appendLine(appendLine(s.causes, s.class), s.said)
		s.class, s.said = s.class[:0], s.said[:0]
		s.met &^= memberClass | memberSaid
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
			err = s.text(memberClass, &s.class)
		case "message":
			err = s.text(memberSaid, &s.said)
		default:
			err = s.decoder.Skip()
		}
	}
	return cmp.Or(err, members.Err())
}

// text reads a member that is a text of ASCII characters.
func (s *searched) text(member contextMember, to *[]byte) (err error) {
	if err := s.once(member, jx.String); err != nil {
		return err
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

// once checks that a member has the type, and was not there before.
func (s *searched) once(member contextMember, kind jx.Type) error {
	if s.met&member != 0 || s.decoder.Next() != kind {
		return errNotPlain
	}
	s.met |= member
	return nil
}
