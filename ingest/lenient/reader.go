package lenient

import (
	"fmt"

	"github.com/go-faster/jx"
)

// Reader reads one complete document. It skips values several times as fast as a
// general decoder, because most of an event is source lines and variables that are
// not kept. It accepts what encoding/json accepts, broken UTF-8 included.
//
// The zero Reader reads an empty document. The slices that it returns are parts of the
// document, except strings with escapes.
type Reader struct {
	doc   []byte
	at    int
	depth int
	// decoded has the strings with escapes. They are never overwritten: a caller may have
	// several of them.
	decoded []byte
}

// maxNesting bounds the depth of a document, as in encoding/json.
const maxNesting = 10_000

// SyntaxError says where a document is not JSON.
type SyntaxError struct {
	Offset int // in bytes
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("not JSON at byte %d", e.Offset) }

func (r *Reader) broken() error { return &SyntaxError{r.at} }

// Read makes a Reader of the document.
func Read(document []byte) *Reader { return &Reader{doc: document} }

// Reset begins to read document. What was read before stays as it is.
func (r *Reader) Reset(document []byte) { r.doc, r.at, r.depth = document, 0, 0 }

// Next is the type of the next value, Invalid if there is none.
func (r *Reader) Next() jx.Type {
	switch c := r.peek(); c {
	case '"':
		return jx.String
	case '{':
		return jx.Object
	case '[':
		return jx.Array
	case 't', 'f':
		return jx.Bool
	case 'n':
		return jx.Null
	default:
		if c == '-' || isDigit(c) {
			return jx.Number
		}
		return jx.Invalid
	}
}

// AtEnd says whether only white space is left of the document.
func (r *Reader) AtEnd() bool { r.peek(); return r.at >= len(r.doc) }

// Object calls field for each key of the next value if that is an object, else it
// skips the value. field must read the value of the key. The key is valid until then.
func Object[P any](r *Reader, p P, field func(p P, key []byte) error) error {
	if r.peek() != '{' {
		return r.Skip()
	}
	if err := r.enter(); err != nil {
		return err
	}
	if r.peek() == '}' {
		r.leave()
		return nil
	}
	for {
		key, err := r.key()
		if err != nil {
			return err
		}
		if err := field(p, key); err != nil {
			return err
		}
		switch r.peek() {
		case ',':
			r.at++
		case '}':
			r.leave()
			return nil
		default:
			return r.broken()
		}
	}
}

// Array calls element for each element of the next value if that is a list, else it
// skips the value. element must read the element.
func Array[P any](r *Reader, p P, element func(p P) error) error {
	if r.peek() != '[' {
		return r.Skip()
	}
	if err := r.enter(); err != nil {
		return err
	}
	if r.peek() == ']' {
		r.leave()
		return nil
	}
	for {
		if err := element(p); err != nil {
			return err
		}
		switch r.peek() {
		case ',':
			r.at++
		case ']':
			r.leave()
			return nil
		default:
			return r.broken()
		}
	}
}

// Bytes reads a scalar as text, cut to MaxText: a string decoded, a number or boolean
// as written. It skips any other value and returns nil.
func (r *Reader) Bytes() ([]byte, error) { return r.bytes(MaxText) }

// Message is Bytes for the message of an error, cut to MaxMessage.
func (r *Reader) Message() ([]byte, error) { return r.bytes(MaxMessage) }

func (r *Reader) bytes(limit int) ([]byte, error) {
	switch c := r.peek(); c {
	case '"':
		text, err := r.text()
		return Cut(text, limit), err
	case 'n', '{', '[':
		return nil, r.Skip()
	default:
		begin := r.at
		if err := r.scalar(c); err != nil {
			return nil, err
		}
		return Cut(r.doc[begin:r.at], limit), nil
	}
}

// Text is Bytes as a string with its own memory.
func (r *Reader) Text() (string, error) {
	text, err := r.Bytes()
	return string(text), err
}

// Str reads a string in its full length. The next value must be a string.
func (r *Reader) Str() (string, error) {
	text, err := r.text()
	return string(text), err
}

// Set reads a text into to. It does not change to if the text is empty or absent.
func (r *Reader) Set(to *string) error {
	text, err := r.Bytes()
	return replace(to, text, err)
}

// SetMessage is Set for the message of an error.
func (r *Reader) SetMessage(to *string) error {
	text, err := r.Message()
	return replace(to, text, err)
}

func replace(to *string, text []byte, err error) error {
	if len(text) > 0 {
		*to = string(text)
	}
	return err
}

// Int reads a whole number, also in a string or with a fraction of zero. It is 0 for
// any other value and for numbers that are too large.
func (r *Reader) Int() (int64, error) {
	text, err := r.Bytes()
	if err != nil || len(text) == 0 {
		return 0, err
	}
	return ParseInt(text), nil
}

// Bool reads true or false, also as 1, 0 or a text. known is false for any other
// value.
func (r *Reader) Bool() (value, known bool, err error) {
	text, err := r.Bytes()
	if err != nil {
		return false, false, err
	}
	value, known = truth(text)
	return value, known, nil
}

// Raw is the next value as it is written.
func (r *Reader) Raw() ([]byte, error) {
	r.peek()
	return r.RawWithBlanks()
}

// Mark is where the next value begins, for [Reader.Since].
func (r *Reader) Mark() int {
	r.peek()
	return r.at
}

// Since is what was read since the mark, as it is written.
func (r *Reader) Since(mark int) []byte { return r.doc[mark:r.at] }

// RawWithBlanks is [Reader.Raw] with the white space before the value.
func (r *Reader) RawWithBlanks() ([]byte, error) {
	begin := r.at
	err := r.Skip()
	return r.doc[begin:r.at], err
}

// Skip passes the next value, of any depth, and validates it.
func (r *Reader) Skip() error {
	var objects uint64 // a bit for each open object (1) or list (0), the innermost last
	for open := 0; ; {
		switch c := r.peek(); c {
		case '"':
			end, _ := passString(r.doc, r.at+1)
			if end < 0 {
				return r.broken()
			}
			r.at = end
		case '{', '[':
			if open == 64 { // there are no more bits
				if err := r.Skip(); err != nil {
					return err
				}
				break
			}
			if err := r.enter(); err != nil {
				return err
			}
			if r.peek() == c+2 { // the closing bracket of either
				r.leave()
				break
			}
			open++
			if objects <<= 1; c == '{' {
				objects |= 1
				if !r.passKey() {
					return r.broken()
				}
			}
			continue
		default:
			if err := r.scalar(c); err != nil {
				return err
			}
		}
		if more, err := r.after(&objects, &open); err != nil || !more {
			return err
		}
	}
}

// after passes the commas, brackets and keys behind a value up to the next value. more
// is false if all open objects and lists are closed.
func (r *Reader) after(objects *uint64, open *int) (more bool, err error) {
	for *open > 0 {
		object := *objects&1 == 1
		switch c := r.peek(); {
		case c == ',':
			r.at++
			if object && !r.passKey() {
				return false, r.broken()
			}
			return true, nil
		case c == '}' && object, c == ']' && !object:
			r.leave()
			*open--
			*objects >>= 1
		default:
			return false, r.broken()
		}
	}
	return false, nil
}

// enter passes an opening bracket.
func (r *Reader) enter() error {
	if r.depth++; r.depth > maxNesting {
		return r.broken()
	}
	r.at++
	return nil
}

// leave passes a closing bracket.
func (r *Reader) leave() { r.at++; r.depth-- }

// peek passes white space and returns the byte behind it, 0 at the end.
func (r *Reader) peek() byte {
	for r.at < len(r.doc) {
		c := r.doc[r.at]
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
		r.at++
	}
	return 0
}

// key reads a key and its colon.
func (r *Reader) key() ([]byte, error) {
	key, err := r.text()
	if err != nil {
		return nil, err
	}
	if r.peek() != ':' {
		return nil, r.broken()
	}
	r.at++
	return key, nil
}

// passKey passes a key and its colon.
func (r *Reader) passKey() bool {
	if r.peek() != '"' {
		return false
	}
	end, _ := passString(r.doc, r.at+1)
	if end < 0 {
		return false
	}
	r.at = end
	if r.peek() != ':' {
		return false
	}
	r.at++
	return true
}

// text reads a string.
func (r *Reader) text() ([]byte, error) {
	if r.peek() != '"' {
		return nil, r.broken()
	}
	begin := r.at
	end, escaped := passString(r.doc, begin+1)
	if end < 0 {
		return nil, r.broken()
	}
	r.at = end
	text := r.doc[begin+1 : end-1]
	if !escaped {
		return text, nil
	}
	d := jx.GetDecoder()
	defer jx.PutDecoder(d)
	d.ResetBytes(r.doc[begin:end])
	return r.decode(d, len(text)) // not in the memory of the pooled decoder
}

// decodedSize is how many bytes are allocated at once for strings with escapes.
const decodedSize = 1 << 10

// decode decodes a string, which is no longer than most bytes.
func (r *Reader) decode(d *jx.Decoder, most int) ([]byte, error) {
	if most > decodedSize/4 {
		return d.StrAppend(make([]byte, 0, most))
	}
	if cap(r.decoded)-len(r.decoded) < most {
		r.decoded = make([]byte, 0, decodedSize)
	}
	from := len(r.decoded)
	all, err := d.StrAppend(r.decoded)
	if err != nil {
		return nil, err
	}
	r.decoded = all
	return all[from:len(all):len(all)], nil
}

func (r *Reader) is(c byte) bool { return r.at < len(r.doc) && r.doc[r.at] == c }
