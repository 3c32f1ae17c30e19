package eventlog

import "github.com/errata-log/errata/internal/recent"

// Texts are texts of first events that came several times lately. Many events have the same
// class, file and method. Records share the memory of such a text. A nil Texts remembers nothing.
type Texts = recent.Table[string]

// NewTexts returns Texts for 1,024 texts of at most 512 bytes.
func NewTexts() *Texts { return recent.New[string](textsBits, longestText) }

const textsBits, longestText = 8, 512

// textOf is the text of the bytes, in the memory of the same text in met if it is there.
func textOf(met *Texts, bytes []byte) string {
	text, at, found := met.FindBytes(bytes)
	if !found {
		text = string(bytes)
		met.Keep(at, text, func(own string) string { return own })
	}
	return text
}
