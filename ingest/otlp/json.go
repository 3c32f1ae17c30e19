package otlp

import (
	"bytes"
	"encoding/base64"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/go-faster/jx"

	"github.com/errata-log/errata/ingest/lenient"
)

var errNotObject = errors.New("the body is not a JSON object")

// readJSON walks an export request. Ids are hex digits, 64-bit numbers are
// strings or numbers, enumerations may be names, unknown fields are ignored.
func (f *finder) readJSON(request []byte) error {
	d := lenient.Read(request)
	if d.Next() != jx.Object {
		return errNotObject
	}
	err := only(d, f.signal.resources, func(d *lenient.Reader) error { return lenient.Array(d, d, f.jsonPart) })
	if err == nil && !d.AtEnd() {
		return errors.New("there is more after the request")
	}
	return err
}

// only reads an object of which one field counts.
func only(d *lenient.Reader, name string, read func(d *lenient.Reader) error) error {
	return lenient.Object(d, d, func(d *lenient.Reader, key []byte) error {
		if camel(key) != name {
			return d.Skip()
		}
		return read(d)
	})
}

// jsonPart reads a resource and its scopes, in any order.
func (f *finder) jsonPart(d *lenient.Reader) error {
	if err := f.visit(); err != nil {
		return err
	}
	resource, scopes, err := two(d, "resource", f.signal.scopes)
	if err != nil {
		return err
	}
	attrs := f.attrs[:0]
	if resource != nil {
		err = only(lenient.Read(resource), "attributes", func(d *lenient.Reader) (err error) {
			attrs, err = jsonAttrs(attrs[:0], d)
			return err
		})
	}
	f.begin(resource, attrs)
	f.attrs = attrs
	if err != nil || scopes == nil {
		return err
	}
	list := lenient.Read(scopes)
	return lenient.Array(list, list, f.jsonScope)
}

func (f *finder) jsonScope(d *lenient.Reader) error {
	if err := f.visit(); err != nil {
		return err
	}
	scope, records, err := two(d, "scope", f.signal.records)
	if err != nil {
		return err
	}
	f.scope = ""
	if scope != nil {
		err = only(lenient.Read(scope), "name", func(d *lenient.Reader) error { return d.Set(&f.scope) })
	}
	if err != nil || records == nil {
		return err
	}
	read := f.jsonLog
	if f.signal == &traces {
		read = f.jsonSpan
	}
	list := lenient.Read(records)
	return lenient.Array(list, list, func(d *lenient.Reader) error {
		if err := f.visit(); err != nil {
			return err
		}
		raw, err := d.RawWithBlanks() // the ids are made of these bytes
		if err != nil {
			return err
		}
		return read(raw)
	})
}

// two reads the values of two keys of an object, as raw JSON.
func two(d *lenient.Reader, one, other string) (first, second []byte, err error) {
	err = lenient.Object(d, d, func(d *lenient.Reader, key []byte) (err error) {
		var raw []byte
		switch name := camel(key); name {
		case one, other:
			if raw, err = d.Raw(); name == one {
				first = raw
			} else {
				second = raw
			}
			return err
		default:
			return d.Skip()
		}
	})
	return first, second, err
}

func (f *finder) jsonLog(raw []byte) error {
	d := lenient.Read(raw)
	rec := record{raw: raw, attrs: f.attrs[:0]}
	err := lenient.Object(d, d, func(d *lenient.Reader, key []byte) (err error) {
		switch camel(key) {
		case "timeUnixNano":
			rec.time, err = d.Int()
		case "observedTimeUnixNano":
			rec.observed, err = d.Int()
		case "severityNumber":
			rec.severity, err = severity(d)
		case "severityText":
			rec.severityText, err = d.Text()
		case "body":
			rec.body, err = jsonValue(d)
		case "attributes":
			rec.attrs, err = jsonAttrs(rec.attrs[:0], d)
		case "traceId":
			rec.traceID, err = d.Bytes()
		case "spanId":
			rec.spanID, err = d.Bytes()
		default:
			err = d.Skip()
		}
		return err
	})
	f.attrs = rec.attrs
	if err != nil {
		return err
	}
	return f.log(&rec)
}

func (f *finder) jsonSpan(raw []byte) error {
	d := lenient.Read(raw)
	s := span{attrs: f.spanAttrs[:0]}
	var events []record
	err := lenient.Object(d, d, func(d *lenient.Reader, key []byte) (err error) {
		switch camel(key) {
		case "traceId":
			s.traceID, err = d.Bytes()
		case "spanId":
			s.spanID, err = d.Bytes()
		case "name":
			s.name, err = d.Text()
		case "attributes":
			s.attrs, err = jsonAttrs(s.attrs[:0], d)
		case "events":
			events = events[:0]
			err = lenient.Array(d, d, func(d *lenient.Reader) error {
				rec, isException, err := jsonEvent(d)
				if isException && len(events) == maxErrors {
					return tooManyErrors()
				}
				if isException {
					events = append(events, rec)
				}
				return err
			})
		default:
			err = d.Skip()
		}
		return err
	})
	f.spanAttrs = s.attrs
	if err != nil || len(events) == 0 {
		return err
	}
	whole, err := f.spanOf(&s)
	for i := 0; err == nil && i < len(events); i++ {
		err = f.spanEvent(whole, &events[i])
	}
	return err
}

func jsonEvent(d *lenient.Reader) (rec record, isException bool, err error) {
	raw, err := d.RawWithBlanks()
	if err != nil {
		return rec, false, err
	}
	rec.raw = raw
	inner := lenient.Read(raw)
	err = lenient.Object(inner, inner, func(d *lenient.Reader, key []byte) (err error) {
		switch camel(key) {
		case "timeUnixNano":
			rec.time, err = d.Int()
		case "name":
			var name []byte
			name, err = d.Bytes()
			isException = string(name) == exceptionEvent
		case "attributes":
			rec.attrs, err = jsonAttrs(rec.attrs[:0], d)
		default:
			err = d.Skip()
		}
		return err
	})
	return rec, isException, err
}

// severity reads a number, or the name of the enumeration.
func severity(d *lenient.Reader) (int64, error) {
	word, err := d.Bytes()
	name, named := strings.CutPrefix(string(word), "SEVERITY_NUMBER_")
	if err != nil || !named {
		return lenient.ParseInt(word), err
	}
	step := int64(0) // the names go ERROR, ERROR2, ERROR3, ERROR4
	if last := len(name) - 1; last > 0 && name[last] >= '2' && name[last] <= '4' {
		step, name = int64(name[last]-'1'), name[:last]
	}
	for i, level := range []string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"} {
		if name == level {
			return int64(4*i) + 1 + step, nil
		}
	}
	return 0, nil
}

func jsonAttrs(attrs []attr, d *lenient.Reader) ([]attr, error) {
	err := lenient.Array(d, d, func(d *lenient.Reader) error {
		if len(attrs) == maxAttributes {
			return d.Skip()
		}
		a, _, err := jsonElement(d)
		attrs = append(attrs, a)
		return err
	})
	return attrs, err
}

// jsonElement reads {"key":…,"value":{…}}, or a bare AnyValue, which has no key.
func jsonElement(d *lenient.Reader) (a attr, isPair bool, err error) {
	if d.Next() != jx.Object {
		return a, false, d.Skip()
	}
	err = lenient.Object(d, d, func(d *lenient.Reader, key []byte) (err error) {
		switch string(key) {
		case "key":
			isPair = true
			a.key, err = d.Text()
		case "value":
			a.value, err = jsonValue(d)
		default:
			err = a.value.jsonField(d, key)
		}
		return err
	})
	return a, isPair, err
}

func jsonValue(d *lenient.Reader) (v value, err error) {
	err = lenient.Object(d, d, v.jsonField)
	return v, err
}

// jsonField reads one key of an AnyValue.
func (v *value) jsonField(d *lenient.Reader, key []byte) error {
	name := camel(key)
	switch name {
	case "arrayValue", "kvlistValue":
		raw, err := d.Raw()
		*v = value{kind: nestedJSON, bytes: raw}
		return err
	case "stringValue", "boolValue", "intValue", "doubleValue", "bytesValue":
	default:
		return d.Skip()
	}
	if name == "stringValue" && d.Next() == jx.String {
		whole, err := d.Str()
		*v = value{kind: text, text: whole}
		return err
	}
	word, err := d.Bytes()
	if err != nil || word == nil {
		return err
	}
	switch name {
	case "stringValue":
		*v = value{kind: text, text: string(word)}
	case "boolValue":
		*v = value{kind: boolean}
		if string(word) == "true" {
			v.bits = 1
		}
	case "intValue":
		*v = value{kind: integer, bits: uint64(lenient.ParseInt(word))}
	case "doubleValue":
		f, _ := strconv.ParseFloat(string(word), 64)
		*v = value{kind: double, bits: math.Float64bits(f)}
	case "bytesValue":
		*v = value{kind: binary, bytes: fromBase64(word)}
	}
	return nil
}

// fromBase64 decodes either alphabet, with or without padding, as JSON protobuf
// allows; nil for any other text.
func fromBase64(text []byte) []byte {
	text = bytes.TrimRight(text, "=")
	for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		decoded := make([]byte, alphabet.DecodedLen(len(text)))
		if n, err := alphabet.Decode(decoded, text); err == nil {
			return decoded[:n]
		}
	}
	return nil
}

// eachRaw calls visit for each element of the array under one key.
func eachRaw(d *lenient.Reader, name string, visit func(element []byte) error) error {
	return only(d, name, func(d *lenient.Reader) error {
		return lenient.Array(d, d, func(d *lenient.Reader) error {
			element, err := d.Raw()
			if err != nil {
				return err
			}
			return visit(element)
		})
	})
}

// names are the known fields by both spellings of JSON protobuf: lowerCamelCase,
// and the names of the .proto file.
var names = func() map[string]string {
	all := map[string]string{}
	for _, name := range []string{
		"resource", "resourceLogs", "resourceSpans", "resourceMetrics", "scope", "scopeLogs", "scopeSpans", "scopeMetrics",
		"logRecords", "spans", "metrics", "dataPoints", "attributes", "events", "name", "body",
		"timeUnixNano", "observedTimeUnixNano", "severityNumber", "severityText", "traceId", "spanId",
		"stringValue", "boolValue", "intValue", "doubleValue", "bytesValue", "arrayValue", "kvlistValue",
	} {
		var snake strings.Builder
		for _, r := range name {
			if r >= 'A' && r <= 'Z' {
				snake.WriteByte('_')
				snake.WriteRune(r | 0x20)
			} else {
				snake.WriteRune(r)
			}
		}
		all[name], all[snake.String()] = name, name
	}
	return all
}()

// camel is the key in lowerCamelCase, "" for an unknown one.
func camel(key []byte) string { return names[string(key)] }
