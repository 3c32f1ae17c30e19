package alerts

import (
	"bytes"
	"strings"
	"unicode/utf8"

	errata "github.com/errata-log/errata"
)

// betweenTexts stands between texts that are searched together. No rule searches for it:
// it is not in UTF-8.
const betweenTexts = 0xff

// texts are those of a record that rules search, in lower case: message, class and file. The
// memory is used again for the next record.
type texts []byte

func (t *texts) set(r *errata.Record) {
	all := appendLower((*t)[:0], r.Message)
	all = appendLower(append(all, betweenTexts), r.Class)
	*t = appendLower(append(all, betweenTexts), r.File)
}

// have says whether one of the texts has the searched one in it.
func (t texts) have(search []byte) bool { return len(search) == 0 || bytes.Contains(t, search) }

// appendLower appends the text as strings.ToLower has it.
func appendLower(to []byte, text string) []byte {
	before := len(to)
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			return append(to[:before], strings.ToLower(text)...)
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		to = append(to, c)
	}
	return to
}
