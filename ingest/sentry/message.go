package sentry

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-faster/jx"

	"github.com/errata-log/errata/ingest/lenient"
)

// logentry is a message, with its template where the SDK sends one.
type logentry struct {
	formatted, message []byte
	params             []byte // raw JSON
}

// readLogentry reads a message in its two forms: a text, or an object.
func (p *parser) readLogentry(to *logentry) error {
	*to = logentry{}
	if p.dec.Next() != jx.Object {
		return p.long(&to.message)
	}
	return p.object(func(p *parser, key []byte) error {
		switch string(key) {
		case "formatted":
			return p.long(&to.formatted)
		case "message":
			return p.long(&to.message)
		case "params":
			raw, err := p.dec.Raw()
			to.params = raw
			return err
		default:
			return p.dec.Skip()
		}
	})
}

// text is the message for people, and the template for the signature.
func (l *logentry) text() (message, template string) {
	template = string(l.message)
	switch {
	case len(l.formatted) > 0:
		return string(l.formatted), template
	case len(l.params) > 0:
		return fill(template, l.params), template
	default:
		return template, template
	}
}

// maxParams bounds the parameters of one message.
const maxParams = 64

// fill puts the parameters into the template, in the forms of the SDKs'
// languages: %s and the like, %(name)s, {0}, {} and {name}. A place without a
// parameter stays as it is.
func fill(template string, raw []byte) string {
	list, named := readParams(raw)
	if len(list) == 0 && len(named) == 0 {
		return template
	}
	if filled, some := fillPercent(template, list, named); some {
		return filled
	}
	return fillBraces(template, list, named)
}

func readParams(raw []byte) (list []string, named map[string]string) {
	d := lenient.Read(raw)
	text := func() (string, error) {
		switch d.Next() {
		case jx.Object, jx.Array, jx.Null: // shown as written
			raw, err := d.Raw()
			return string(lenient.Cut(bytes.TrimSpace(raw), lenient.MaxMessage)), err
		default:
			param, err := d.Message()
			return string(param), err
		}
	}
	// raw is valid, so the errors below cannot happen.
	switch d.Next() {
	case jx.Array:
		_ = lenient.Array(d, d, func(*lenient.Reader) error {
			param, err := text()
			if len(list) < maxParams {
				list = append(list, param)
			}
			return err
		})
	case jx.Object:
		named = map[string]string{}
		_ = lenient.Object(d, d, func(_ *lenient.Reader, key []byte) error {
			name := string(key)
			param, err := text()
			if len(named) < maxParams {
				named[name] = param
			}
			return err
		})
	default:
		if param, _ := text(); param != "" {
			list = []string{param}
		}
	}
	return list, named
}

// fillPercent fills %s, %-5.2f, %(name)s; %% is a percent sign. some says whether
// it filled any place: those of "100% of {0}" are in braces.
func fillPercent(template string, list []string, named map[string]string) (filled string, some bool) {
	next := 0
	filled = fillPlaces(template, "%", func(rest string) (param, after string, ok bool) {
		if after, escaped := strings.CutPrefix(rest, "%"); escaped {
			return "%", after, true
		}
		name, tail := "", rest
		if strings.HasPrefix(tail, "(") {
			name, tail, _ = strings.Cut(tail[1:], ")")
		}
		verb := strings.TrimLeft(tail, "#0-+.123456789*lhjzt")
		param, ok = named[name]
		if name == "" && next < len(list) {
			param, ok = list[next], true
		}
		if !ok || verb == "" || !isLetter(verb[0]) {
			return "", "", false
		}
		next++
		some = true
		return param, verb[1:], true
	})
	return filled, some
}

// fillBraces fills {}, {0}, {0:N2} and {name}.
func fillBraces(template string, list []string, named map[string]string) string {
	next := 0
	return fillPlaces(template, "{", func(rest string) (param, after string, ok bool) {
		inside, after, closed := strings.Cut(rest, "}")
		name, _, _ := strings.Cut(inside, ":")
		param, ok = named[name]
		if name == "" && next < len(list) {
			param, ok = list[next], true
			next++
		} else if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(list) {
			param, ok = list[i], true
		}
		return param, after, ok && closed
	})
}

// fillPlaces fills the places that begin with mark. fill gets the text behind mark
// and returns the parameter and the text behind the place, or false for no place.
func fillPlaces(template, mark string, fill func(rest string) (param, after string, ok bool)) string {
	var b strings.Builder
	for template != "" && b.Len() < lenient.MaxMessage {
		before, rest, found := strings.Cut(template, mark)
		b.WriteString(before)
		if !found {
			break
		}
		param, after, ok := fill(rest)
		if !ok {
			param, after = mark, rest
		}
		b.WriteString(param)
		template = after
	}
	return b.String()
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
