package ingest

import (
	"strings"
	"unicode"
)

// unknownShape stands for an argument that is not given as a shape.
const unknownShape = "unknown"

// shapeOf is the shape of an argument as a receiver gave it. Receivers make
// shapes of values; whatever else comes through is a value that would stand in
// the payload for good, and goes no further.
func shapeOf(arg string) string {
	kind, inside, sized := strings.Cut(arg, "(")
	switch kind {
	case "int", "float", "bool", "null", "string", "array", "object", "resource", "callable", "function":
	default:
		return unknownShape
	}
	if !sized {
		return arg
	}
	inside, closed := strings.CutSuffix(inside, ")")
	if !closed || inside == "" || len(inside) > MaxClass || strings.IndexFunc(inside, notShapeRune) >= 0 {
		return unknownShape
	}
	if (kind == "string" || kind == "array") && strings.IndexFunc(inside, notDigit) >= 0 {
		return unknownShape
	}
	return arg
}

// notShapeRune says whether a rune does not belong into a size or a class.
func notShapeRune(r rune) bool {
	return !unicode.IsLetter(r) && notDigit(r) && !strings.ContainsRune(`\_.$:@*`, r)
}

func notDigit(r rune) bool { return r < '0' || r > '9' }
