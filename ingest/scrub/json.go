package scrub

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-faster/jx"

	"github.com/errata-log/errata/internal/recent"
)

// Limits of the JSON that is scrubbed: nesting, values, and the bytes of a key
// and a string. Deeper or wider JSON is refused, longer texts are cut.
const (
	MaxDepth  = 64
	MaxValues = 20000
	maxKeyLen = 200
	maxString = 16 << 10
)

// slack is how many bytes of a string are scrubbed beyond its limit: the rules do
// not find a secret that the cut left half of.
const slack = 512

// Errors of [Scrubber.JSON]. They show nothing of the input.
var (
	ErrNotObject = errors.New("not a JSON object")
	ErrSyntax    = errors.New("invalid JSON")
	ErrTooDeep   = errors.New("JSON is nested too deeply")
	ErrTooMany   = errors.New("JSON has too many values")
)

// JSON gives a JSON object without its secrets. The values of secret keys become
// [Filtered], of whatever type, except null and "". Keys and strings pass through
// [Scrubber.Text]. A list that begins with a secret key, like ["password", "x"], and
// an object that names one, like {"name": "password", "value": "x"}, count as pairs
// of key and value. The result is compact.
func (x *Scrubber) JSON(raw []byte) ([]byte, error) { return x.JSONKnowing(raw, nil) }

// Keys are the verdicts of one Scrubber on the keys of objects that it saw a moment ago:
// those of clean keys, which are few. nil remembers none.
type Keys = recent.Table[keyVerdict]

// NewKeys makes Keys that have none.
func NewKeys() *Keys { return recent.New[keyVerdict](8, maxKey) }

// keyVerdict says what a clean key means for its value.
type keyVerdict struct{ secret, name, value bool }

// JSONKnowing is JSON with the help of keys, which must be for this Scrubber alone.
func (x *Scrubber) JSONKnowing(raw []byte, keys *Keys) ([]byte, error) {
	d := jx.GetDecoder()
	defer jx.PutDecoder(d)
	d.ResetBytes(raw)
	if d.Next() != jx.Object {
		return nil, ErrNotObject
	}
	// The scrubber reads up to the end of the object, and would not see what
	// follows it.
	if err := d.Validate(); err != nil {
		return nil, ErrSyntax
	}
	d.ResetBytes(raw)
	w := jsonScrubber{in: d, rules: x, keys: keys}
	w.out.Grow(len(raw) + 64)
	if err := w.object(); err != nil {
		return nil, shortError(err)
	}
	return w.out.Buf, nil
}

// jsonScrubber copies JSON value by value.
type jsonScrubber struct {
	rules  *Scrubber
	keys   *Keys
	in     *jx.Decoder
	out    jx.Writer
	depth  int
	values int
}

func (w *jsonScrubber) object() error {
	if w.depth++; w.depth > MaxDepth {
		return ErrTooDeep
	}
	defer func() { w.depth-- }()
	w.out.ObjStart()
	first, named := true, false
	err := w.in.ObjBytes(func(_ *jx.Decoder, key []byte) error {
		if !first {
			w.out.Comma()
		}
		first = false
		k := w.key(key)
		if k.name {
			secret, err := w.value(named && k.value, true)
			named = named || secret
			return err
		}
		_, err := w.value(k.secret || named && k.value, false)
		return err
	})
	w.out.ObjEnd()
	return err
}

// key writes a key and its colon.
func (w *jsonScrubber) key(raw []byte) keyVerdict {
	k, at, found := w.keys.FindBytes(raw)
	if found {
		w.out.ByteStrEscape(raw)
		w.out.RawStr(":")
		return k
	}
	key := string(raw)
	kept := Cut(w.rules.Text(valid(key)), maxKeyLen)
	w.out.StrEscape(kept)
	w.out.RawStr(":")
	k.name, k.value = pairKey(kept)
	k.secret = w.rules.SecretKey(key) || kept != key && w.rules.SecretKey(kept)
	if kept == key {
		w.keys.Keep(at, key, func(string) keyVerdict { return k })
	}
	return k
}

// readable says whether a reader of JSON can hold the number. A number like 1e400
// is kept as a string: as a number it would make the whole document unreadable.
func readable(number string) bool {
	if len(number) <= 15 && !strings.ContainsAny(number, "eE") {
		return true // the usual case, without parsing
	}
	_, err := strconv.ParseFloat(number, 64)
	return err == nil
}

// pairKey says whether a member holds the name or the value of a pair.
func pairKey(key string) (name, value bool) {
	switch strings.ToLower(key) {
	case "name", "key", "field", "header":
		return true, false
	case "value", "val", "content", "data":
		return false, true
	}
	return false, false
}

// value writes one value, filtered if it is secret. Of a value that may be a name,
// secretName says that it is a string that is a secret key.
func (w *jsonScrubber) value(secret, mayBeName bool) (secretName bool, err error) {
	if w.values++; w.values > MaxValues {
		return false, ErrTooMany
	}
	kind := w.in.Next()
	if secret {
		return false, w.filtered()
	}
	switch kind {
	case jx.Object:
		return false, w.object()
	case jx.Array:
		return false, w.array()
	case jx.String:
		s, err := w.in.Str()
		if err != nil {
			return false, err
		}
		kept := Cut(w.rules.Text(Cut(valid(s), maxString+slack)), maxString)
		w.out.StrEscape(kept)
		return mayBeName && len(kept) <= maxKeyLen && w.rules.SecretKey(kept), nil
	default:
		raw, err := w.in.Raw()
		if err != nil {
			return false, err
		}
		text := string(raw)
		switch {
		case kind == jx.Number && w.rules.Text(text) != text:
			w.out.StrEscape(Filtered)
		case kind == jx.Number && !readable(text):
			w.out.StrEscape(text)
		default:
			w.out.Raw(raw)
		}
		return false, nil
	}
}

// filtered skips a value and writes what replaces it.
func (w *jsonScrubber) filtered() error {
	raw, err := w.in.Raw()
	if text := string(raw); text == "null" || text == `""` {
		w.out.Raw(raw)
	} else {
		w.out.StrEscape(Filtered)
	}
	return err
}

func (w *jsonScrubber) array() error {
	if w.depth++; w.depth > MaxDepth {
		return ErrTooDeep
	}
	defer func() { w.depth-- }()
	w.out.ArrStart()
	index, pair := 0, false
	err := w.in.Arr(func(*jx.Decoder) error {
		if index > 0 {
			w.out.Comma()
		}
		secret, err := w.value(pair && index == 1, index == 0)
		pair = index == 0 && secret
		index++
		return err
	})
	w.out.ArrEnd()
	return err
}

// shortError is one of the errors above. The parser's own error repeats the input
// and grows with its depth.
func shortError(err error) error {
	for _, known := range []error{ErrTooDeep, ErrTooMany, ErrSyntax} {
		if errors.Is(err, known) {
			return known
		}
	}
	return ErrSyntax
}

// valid repairs UTF-8 and drops NUL, which many stores refuse.
func valid(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// Cut shortens s to at most limit bytes and marks the cut.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return Marked(s, limit)
}

// Marked is the beginning of s with the mark of a cut, at most limit bytes. It does
// not split a rune.
func Marked(s string, limit int) string {
	end := min(len(s), limit-len(Mark))
	for end > 0 && end < len(s) && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + Mark
}

// Mark ends a text that was cut.
const Mark = "…"
