package legacy

import (
	"bytes"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
)

// Values of Context.Source, by the form of the entry. A native event keeps the
// source of its own receiver.
const (
	sourcePHP     = "import-php"
	sourceMonolog = "import-monolog"
	sourceJSON    = "import-json"
)

// Parse reads one entry: a line of JSON, or a text with its further lines. It
// finds the form of each entry, because several programs can write to one file.
// Draft.Time is zero for an entry without a time. The error has kind
// invalid_event.
func Parse(text []byte) (ingest.Draft, *errata.Error) {
	text = bytes.TrimRight(text, " \t\r\n")
	if len(text) > 0 && text[0] == '{' {
		return parseJSON(text)
	}
	kind, end := stampOf(text)
	if kind == noStamp {
		d := ingest.Draft{Context: ingest.Context{Source: sourcePHP}}
		if _, _, ok := cutLabel(string(text[:min(len(text), maxLabel)])); !ok {
			return d, errata.Errorf(errata.KindInvalidEvent, "the line has no known form")
		}
		parsePHP(string(text), &d)
		return d, nil
	}
	whole := string(text)
	d := ingest.Draft{Time: stampTime(kind, whole[1:end])}
	if d.Time.IsZero() {
		return d, errata.Errorf(errata.KindInvalidEvent, "the time of the line does not exist")
	}
	rest := strings.TrimPrefix(whole[end+1:], " ")
	if strings.TrimSpace(rest) == "" {
		return d, errata.Errorf(errata.KindInvalidEvent, "there is nothing behind the time")
	}
	if channel, level, message, ok := cutChannel(rest); ok {
		d.Context.Source, d.Context.Logger, d.Level = sourceMonolog, channel, level
		parseMonolog(message, &d)
		return d, nil
	}
	d.Context.Source = sourcePHP
	parsePHP(rest, &d)
	return d, nil
}
