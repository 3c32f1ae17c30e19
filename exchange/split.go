package exchange

import (
	"bytes"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/lenient"
)

// part is one entry of a request: its JSON, nil for a line that is not JSON.
type part []byte

// split finds the entries of a body: one object, an array, or objects line by
// line. The first byte of the body decides. The parts share the body's memory. A
// broken line is one broken entry; broken JSON in an array refuses the request,
// because the beginning of the next entry is unknown. Errors: invalid_body,
// body_too_large.
func split(body []byte) ([]part, error) {
	body = blanks(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	switch {
	case len(body) == 0:
		return nil, door.Malformed("the body is empty; send a JSON object, an array, or objects line by line")
	case body[0] == '[':
		return elements(body)
	case body[0] == '{':
		return values(body)
	default:
		return nil, door.Malformed("the body begins neither with a JSON object nor with an array")
	}
}

func elements(body []byte) (parts []part, err error) {
	d := lenient.Read(body)
	whole, err := d.Raw()
	if err != nil {
		return nil, door.Malformed("the array is not valid JSON; nothing was recorded").Because(err)
	}
	if len(blanks(body[len(whole):])) > 0 {
		return nil, door.Malformed("there is more after the array")
	}
	d.Reset(whole)
	err = lenient.Array(d, d, func(d *lenient.Reader) error {
		if len(parts) == MaxEntries {
			return tooMany()
		}
		raw, err := d.Raw()
		parts = append(parts, part(blanks(raw)))
		return err
	})
	if err != nil {
		return nil, tooMany() // the JSON is valid, so there is no other error
	}
	return parts, nil
}

// values reads one value after the other. A value may have several lines, or share
// a line. After the first broken value, each line is one value: reading every
// broken value to the end of the body would take quadratic time.
func values(rest []byte) (parts []part, err error) {
	d := new(lenient.Reader)
	byLine := false
	for ; len(rest) > 0; rest = blanks(rest) {
		if len(parts) == MaxEntries {
			return nil, tooMany()
		}
		text := rest
		if byLine {
			text, _, _ = bytes.Cut(rest, []byte("\n"))
		}
		d.Reset(text)
		raw, err := d.Raw()
		if err != nil {
			byLine = true
			parts = append(parts, nil)
			_, rest, _ = bytes.Cut(rest, []byte("\n"))
			continue
		}
		parts = append(parts, part(raw))
		rest = rest[len(raw):]
	}
	return parts, nil
}

// blanks cuts JSON's white space off the beginning.
func blanks(text []byte) []byte { return bytes.TrimLeft(text, " \t\r\n") }

func tooMany() *errata.Error {
	return errata.Errorf(errata.KindBodyTooLarge, "the body holds more than %d entries; send them in several requests", MaxEntries)
}
