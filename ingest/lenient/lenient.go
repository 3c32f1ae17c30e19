// Package lenient reads JSON as applications really write it: a text may be a
// number, a line number may be a text, a list may be null. A value of another
// type than wanted is absent, never an error; only broken JSON is an error,
// because every value is validated, also the skipped ones.
//
// It works on complete documents in memory and must not be used with a
// streaming decoder: the slices it gives are parts of the document.
package lenient

import (
	"io"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/go-faster/jx"
)

// MaxText bounds a text that is kept of a document. It is twice the longest
// limit of the pipeline, so that the pipeline still sees, and marks, a cut.
const MaxText = 16 << 10

// Object calls field for each key of the object that comes next and skips any
// other value. The key is only valid until the value is read; field must read
// the value.
func Object[P any](d *jx.Decoder, p P, field func(p P, key []byte) error) error {
	if d.Next() != jx.Object {
		return d.Skip()
	}
	it, err := d.ObjIter()
	if err != nil {
		return err
	}
	for it.Next() {
		if err := field(p, it.Key()); err != nil {
			return err
		}
	}
	return it.Err()
}

// Array calls element for each element of the array that comes next and skips
// any other value. element must read the value.
func Array[P any](d *jx.Decoder, p P, element func(p P) error) error {
	if d.Next() != jx.Array {
		return d.Skip()
	}
	it, err := d.ArrIter()
	if err != nil {
		return err
	}
	for it.Next() {
		if err := element(p); err != nil {
			return err
		}
	}
	return it.Err()
}

// Bytes reads a scalar as text, cut to MaxText: a string decoded, a number or
// boolean as written. Anything else is skipped and gives nil. The slice is a
// part of the document unless the string held escapes.
func Bytes(d *jx.Decoder) ([]byte, error) {
	switch d.Next() {
	case jx.String:
		text, err := d.StrBytes()
		return Cut(text, MaxText), err
	case jx.Number, jx.Bool:
		raw, err := d.Raw()
		for len(raw) > 0 && raw[0] <= ' ' { // Raw begins before the blanks
			raw = raw[1:]
		}
		return Cut(raw, MaxText), err
	default:
		return nil, d.Skip()
	}
}

// Text is Bytes as a string of its own.
func Text(d *jx.Decoder) (string, error) {
	text, err := Bytes(d)
	return string(text), err
}

// Set reads a text into to, and leaves to alone where there is none.
func Set(d *jx.Decoder, to *string) error {
	text, err := Bytes(d)
	if len(text) > 0 {
		*to = string(text)
	}
	return err
}

// Int reads a whole number, also one in a string or with a fraction of zero.
// Anything else, and what does not fit, is 0.
func Int(d *jx.Decoder) (int64, error) {
	text, err := Bytes(d)
	if err != nil || len(text) == 0 {
		return 0, err
	}
	return ParseInt(text), nil
}

// ParseInt reads a whole number out of text; 0 for anything else.
func ParseInt(text []byte) int64 {
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0
	}
	return int64(f)
}

// Bool reads true or false, also as 1, 0 or a text. known is false for
// anything else.
func Bool(d *jx.Decoder) (value, known bool, err error) {
	text, err := Bytes(d)
	if err != nil {
		return false, false, err
	}
	value, known = truth(text)
	return value, known, nil
}

func truth(text []byte) (value, known bool) {
	switch string(text) {
	case "true", "1", "True":
		return true, true
	case "false", "0", "False":
		return false, true
	default:
		return false, false
	}
}

// Cut shortens text to at most max bytes without splitting a rune.
func Cut(text []byte, max int) []byte {
	if len(text) <= max {
		return text
	}
	end := max
	for end > max-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// AtEnd says whether nothing but white space is left of the document.
func AtEnd(d *jx.Decoder) bool { return d.Skip() == io.EOF }
