// Package lenient reads JSON as applications write it: a text may be a number, a line
// number may be a text, a list may be null. A value of an unexpected type counts as
// absent and is no error. Only broken JSON is an error. Every value is validated,
// skipped ones too.
//
// The package works on complete documents in memory. The slices that it returns are
// parts of the document. It must not know what a document means.
package lenient

import (
	"math"
	"strconv"
	"unicode/utf8"
)

const (
	// MaxText bounds the bytes of a text of a document. It is twice what the pipeline
	// keeps of any text but a message, so that the pipeline cuts a longer text again
	// and marks the cut.
	MaxText = 16 << 10
	// MaxMessage bounds the message of an error in the same way.
	MaxMessage = 128 << 10
)

// ParseInt reads a whole number; 0 for any other text.
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
func Cut[T string | []byte](text T, max int) T {
	if len(text) <= max {
		return text
	}
	end := max
	for end > max-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
