package ingest

import (
	"strconv"
	"strings"
	"unicode"
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
