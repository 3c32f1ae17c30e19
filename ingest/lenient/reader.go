package lenient

import (
	"fmt"

	"github.com/go-faster/jx"
)

// Reader reads one complete document like the functions of this package, and
// passes over what is not wanted several times as fast as a general decoder:
// most of an event is source lines and variables that are never kept. It takes
// what encoding/json takes as valid, broken UTF-8 included.
//
// The zero Reader reads an empty document. The slices it gives are parts of the
// document unless a string held escapes.
type Reader struct {
	doc   []byte
	at    int
	depth int
	// objects has a bit for each open object or list: set for an object.
	objects [maxNesting/64 + 1]uint64
}

// maxNesting is where a document counts as broken, as in encoding/json.
const maxNesting = 10_000

// SyntaxError says where a document stops being JSON.
type SyntaxError struct {
	Offset int // in bytes
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("not JSON at byte %d", e.Offset) }

func (r *Reader) broken() error { return &SyntaxError{r.at} }

// Reset begins to read document.
func (r *Reader) Reset(document []byte) { r.doc, r.at, r.depth = document, 0, 0 }

// Next is the type of the value that comes next, Invalid when there is none.
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

// AtEnd says whether nothing but white space is left of the document.
func (r *Reader) AtEnd() bool { r.peek(); return r.at >= len(r.doc) }

// Members calls field for each key of the object that comes next and skips any
// other value. The key is only valid until the value is read; field must read
// the value.
func Members[P any](r *Reader, p P, field func(p P, key []byte) error) error {
	if r.peek() != '{' {
		return r.Skip()
	}
	if err := r.enter(true); err != nil {
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

// Elements calls element for each element of the list that comes next and
// skips any other value. element must read the value.
func Elements[P any](r *Reader, p P, element func(p P) error) error {
	if r.peek() != '[' {
		return r.Skip()
	}
	if err := r.enter(false); err != nil {
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

// Bytes is [Bytes] for a Reader.
func (r *Reader) Bytes() ([]byte, error) {
	switch c := r.peek(); c {
	case '"':
		text, err := r.text()
		return Cut(text, MaxText), err
	case 'n', '{', '[':
		return nil, r.Skip()
	default:
		begin := r.at
		if err := r.scalar(c); err != nil {
			return nil, err
		}
		return Cut(r.doc[begin:r.at], MaxText), nil
	}
}

// Int is [Int] for a Reader.
func (r *Reader) Int() (int64, error) {
	text, err := r.Bytes()
	if err != nil || len(text) == 0 {
		return 0, err
	}
	return ParseInt(text), nil
}

// Bool is [Bool] for a Reader.
func (r *Reader) Bool() (value, known bool, err error) {
	text, err := r.Bytes()
	if err != nil {
		return false, false, err
	}
	value, known = truth(text)
	return value, known, nil
}

// Raw is the value that comes next as it is written.
func (r *Reader) Raw() ([]byte, error) {
	r.peek()
	begin := r.at
	err := r.Skip()
	return r.doc[begin:r.at], err
}

// Skip passes over the value that comes next, however deep it is, and checks it.
func (r *Reader) Skip() error {
	for floor := r.depth; ; {
		switch c := r.peek(); c {
		case '"':
			end, _ := passString(r.doc, r.at+1)
			if end < 0 {
				return r.broken()
			}
			r.at = end
		case '{', '[':
			if err := r.enter(c == '{'); err != nil {
				return err
			}
			if next := r.peek(); next == c+2 { // the closing bracket of either
				r.leave()
				break
			}
			if c == '{' && !r.passKey() {
				return r.broken()
			}
			continue
		default:
			if err := r.scalar(c); err != nil {
				return err
			}
		}
		if r.depth == floor {
			return nil
		}
		more, err := r.after(floor)
		if err != nil || !more {
			return err
		}
	}
}

// after passes what stands behind a value until the next one, or until the
// objects and lists above floor are closed; then more is false.
func (r *Reader) after(floor int) (more bool, err error) {
	for r.depth > floor {
		object := r.objects[r.depth>>6]>>(r.depth&63)&1 == 1
		switch c := r.peek(); {
		case c == ',':
			r.at++
			if object && !r.passKey() {
				return false, r.broken()
			}
			return true, nil
		case c == '}' && object, c == ']' && !object:
			r.leave()
		default:
			return false, r.broken()
		}
	}
	return false, nil
}

// enter passes an opening bracket.
func (r *Reader) enter(object bool) error {
	if r.depth++; r.depth > maxNesting {
		return r.broken()
	}
	r.at++
	if bit := uint64(1) << (r.depth & 63); object {
		r.objects[r.depth>>6] |= bit
	} else {
		r.objects[r.depth>>6] &^= bit
	}
	return nil
}

// leave passes a closing bracket.
func (r *Reader) leave() { r.at++; r.depth-- }

// peek passes white space and is the byte behind it, 0 at the end.
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
	if r.peek() != '"' {
		return nil, r.broken()
	}
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
	return d.StrAppend(make([]byte, 0, len(text))) // nothing of the pooled decoder's own
}

// scalar passes a number or a word that begins with c.
func (r *Reader) scalar(c byte) error {
	switch c {
	case 't':
		return r.word("true")
	case 'f':
		return r.word("false")
	case 'n':
		return r.word("null")
	default:
		return r.number()
	}
}

func (r *Reader) word(w string) error {
	if rest := r.doc[r.at:]; len(rest) < len(w) || string(rest[:len(w)]) != w {
		return r.broken()
	}
	r.at += len(w)
	return nil
}

// number passes -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?.
func (r *Reader) number() error {
	if r.is('-') {
		r.at++
	}
	if r.is('0') {
		r.at++
	} else if !r.digits() {
		return r.broken()
	}
	if r.is('.') {
		if r.at++; !r.digits() {
			return r.broken()
		}
	}
	if r.is('e') || r.is('E') {
		if r.at++; r.is('+') || r.is('-') {
			r.at++
		}
		if !r.digits() {
			return r.broken()
		}
	}
	return nil
}

// digits passes digits and says whether there was one.
func (r *Reader) digits() bool {
	begin := r.at
	for r.at < len(r.doc) && isDigit(r.doc[r.at]) {
		r.at++
	}
	return r.at > begin
}

func (r *Reader) is(c byte) bool { return r.at < len(r.doc) && r.doc[r.at] == c }
