package ingest

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-faster/jx"

	"github.com/errata-log/errata/ingest/lenient"
)

// shapeOf is the shape of an argument, "unknown" if it is none. Receivers turn values
// into shapes; a value that they missed must not get into the payload.
func shapeOf(arg string) string {
	if IsShape(arg) {
		return arg
	}
	return "unknown"
}

// IsShape says whether the text is the shape of an argument: a type, a type with
// a size, or a type with the name of a class.
func IsShape(text string) bool {
	kind, inside, sized := strings.Cut(text, "(")
	if !sized {
		switch kind {
		case "int", "float", "bool", "null", "string", "array", "object", "resource", "callable":
			return true
		}
		return false
	}
	inside, closed := strings.CutSuffix(inside, ")")
	switch kind {
	case "string", "array":
		_, err := strconv.ParseUint(inside, 10, 32)
		return closed && err == nil
	case "object", "resource":
		return closed && inside != "" && len(inside) <= MaxClass && strings.IndexFunc(inside, notNameRune) < 0
	default:
		return false
	}
}

// notNameRune says whether a rune may not stand in the name of a class or a resource.
func notNameRune(r rune) bool {
	return !unicode.IsLetter(r) && notDigit(r) && !strings.ContainsRune(`\_.$:@`, r)
}

func notDigit(r rune) bool { return r < '0' || r > '9' }

// ReadShape reads a value as its shape, such as string(5). A text that is a shape stays.
// A value becomes its shape here and goes no further.
func ReadShape(d *lenient.Reader) (string, error) {
	switch d.Next() {
	case jx.String:
		text, err := d.Bytes()
		return shapeOfText(text), err
	case jx.Number:
		raw, err := d.Raw()
		if bytes.ContainsAny(raw, ".eE") {
			return "float", err
		}
		return "int", err
	case jx.Bool:
		return "bool", d.Skip()
	case jx.Null:
		return "null", d.Skip()
	case jx.Array:
		return "array", d.Skip()
	default:
		return "object", d.Skip()
	}
}

// shapeOfText is the shape of a text, unless it is one.
func shapeOfText(text []byte) string {
	if s := string(text); IsShape(s) {
		return s
	}
	return sized("string", len(text))
}

func sized(kind string, n int) string { return kind + "(" + strconv.Itoa(n) + ")" }

// ReadVarShape is ReadShape for a local variable. Python's SDK sends most values as
// repr writes them: 'abc', 17, None, [1, 2], <Order: 4711>. These have the shape of what
// they stand for.
func ReadVarShape(d *lenient.Reader) (string, error) {
	if d.Next() != jx.String {
		return ReadShape(d)
	}
	text, err := d.Bytes()
	if err == nil && len(text) > 0 {
		if shape := shapeOfRepr(string(text)); shape != "" {
			return shape, nil
		}
	}
	return shapeOfText(text), err
}

// shapeOfRepr is the shape of what Python's repr has written, "" for another text.
func shapeOfRepr(text string) string {
	switch text {
	case "None":
		return "null"
	case "True", "False":
		return "bool"
	}
	first, last := text[0], text[len(text)-1]
	switch {
	case (first == '\'' || first == '"') && last == first && len(text) > 1:
		return sized("string", len(text)-2)
	case first == '[' && last == ']', first == '(' && last == ')':
		return "array"
	case first == '{' && last == '}':
		return "object"
	case first == '<' && last == '>':
		// A word in brackets may also be a value; only what a class writes is its name.
		name, _, isObject := strings.Cut(text[1:], " object at 0x")
		if !isObject {
			name, _, isObject = strings.Cut(text[1:], ": ")
			isObject = isObject && name != "" && unicode.IsUpper(rune(name[0]))
		}
		if shape := "object(" + name + ")"; isObject && IsShape(shape) {
			return shape
		}
		return "object"
	case strings.Trim(text, "-0123456789.") == "" && strings.Trim(text, "-.") != "":
		if strings.Contains(text, ".") {
			return "float"
		}
		return "int"
	}
	return ""
}
