package otlp

import (
	"encoding/base64"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/VictoriaMetrics/easyproto"
	"github.com/go-faster/jx"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/lenient"
)

// attr is an attribute of a resource, a record, a span or an event.
type attr struct {
	key   string
	value value
}

type kind uint8

const (
	absent kind = iota
	text
	boolean
	integer
	double
	binary
	nestedProto // an array or a list of pairs as protobuf
	nestedJSON  // the same as JSON
)

// maxAttributes bounds the attributes of one record, resource or list; SDKs allow
// 128. The rest is ignored.
const maxAttributes = 1024

// value is an AnyValue. Strings and bytes are parts of the body, whose buffer is
// reused: a draft needs copies of them.
type value struct {
	kind  kind
	text  string
	bytes []byte
	bits  uint64
}

// scalar says whether the value is a text, a number or a boolean.
func (v value) scalar() bool { return v.kind >= text && v.kind <= double }

// String is a copy of the value for people: a scalar as it is, bytes as base64, a
// list as JSON.
func (v value) String() string {
	switch v.kind {
	case text:
		return keep(v.text)
	case boolean:
		return strconv.FormatBool(v.bits != 0)
	case integer:
		return strconv.FormatInt(int64(v.bits), 10)
	case double:
		return strconv.FormatFloat(math.Float64frombits(v.bits), 'g', -1, 64)
	case binary:
		return base64.StdEncoding.EncodeToString(lenient.Cut(v.bytes, lenient.MaxMessage))
	case nestedProto, nestedJSON:
		var e jx.Encoder
		v.write(&e, 0)
		return string(lenient.Cut(e.Bytes(), lenient.MaxMessage))
	default:
		return ""
	}
}

// int is the value as a whole number, 0 for any other value.
func (v value) int() int64 {
	switch v.kind {
	case integer:
		return int64(v.bits)
	case text, double:
		return lenient.ParseInt([]byte(v.String()))
	default:
		return 0
	}
}

// write writes the value as plain JSON. It writes null below the depth that
// events may have, and past the length that is kept.
func (v value) write(e *jx.Encoder, depth int) {
	if depth > ingest.MaxDepth || len(e.Bytes()) > lenient.MaxMessage {
		e.Null()
		return
	}
	switch v.kind {
	case text:
		e.Str(v.text)
	case boolean:
		e.Bool(v.bits != 0)
	case integer:
		e.Int64(int64(v.bits))
	case double:
		if f := math.Float64frombits(v.bits); math.IsNaN(f) || math.IsInf(f, 0) {
			e.Str(v.String())
		} else {
			e.Float64(f)
		}
	case binary:
		e.Str(v.String())
	case nestedProto:
		writeProto(e, v.bytes, depth+1)
	case nestedJSON:
		writeJSON(e, v.bytes, depth+1)
	default:
		e.Null()
	}
}

// writeProto writes an AnyValue that is an array or a list of pairs.
func writeProto(e *jx.Encoder, any []byte, depth int) {
	var fc easyproto.FieldContext
	for len(any) > 0 {
		var err error
		if any, err = fc.NextField(any); err != nil {
			break
		}
		list, ok := fc.MessageData()
		switch {
		case ok && fc.FieldNum == fieldArray:
			e.Arr(func(e *jx.Encoder) {
				writeList(e, list, func(element []byte) {
					v, _ := protoValue(element)
					v.write(e, depth)
				})
			})
			return
		case ok && fc.FieldNum == fieldPairs:
			e.Obj(func(e *jx.Encoder) {
				writeList(e, list, func(pair []byte) {
					a, _ := protoAttr(pair)
					e.FieldStart(keep(a.key))
					a.value.write(e, depth)
				})
			})
			return
		}
	}
	e.Null()
}

var errEnough = errors.New("more than is kept")

// writeList writes the elements of a list, up to the length that is kept.
func writeList(e *jx.Encoder, list []byte, write func(element []byte)) {
	_ = eachMessage(list, 1, func(element []byte) error {
		if write(element); len(e.Bytes()) > lenient.MaxMessage {
			return errEnough
		}
		return nil
	})
}

// writeJSON does the same for the JSON form: {"values":[…]}, where the values
// of a list of pairs have keys.
func writeJSON(e *jx.Encoder, list []byte, depth int) {
	d := lenient.Read(list)
	var values []attr
	pairs := false
	_ = lenient.Object(d, d, func(d *lenient.Reader, key []byte) error {
		if string(key) != "values" {
			return d.Skip()
		}
		return lenient.Array(d, d, func(d *lenient.Reader) error {
			if len(values) == maxAttributes {
				return errEnough
			}
			a, isPair, err := jsonElement(d)
			pairs = pairs || isPair
			values = append(values, a)
			return err
		})
	})
	write := e.Arr
	if pairs {
		write = e.Obj
	}
	write(func(e *jx.Encoder) {
		for _, a := range values {
			if pairs {
				e.FieldStart(a.key)
			}
			a.value.write(e, depth)
		}
	})
}

// keep copies a text out of the body, up to the length that is kept.
func keep(text string) string {
	return strings.Clone(lenient.Cut(text, lenient.MaxText))
}

// message is the value as the message of an error, which may be longer than other
// texts.
func (v value) message() string {
	if v.kind == text {
		return strings.Clone(lenient.Cut(v.text, lenient.MaxMessage))
	}
	return v.String()
}

// maxStack bounds the text of a stack trace, in bytes. Java's are the longest,
// with some tens of kilobytes.
const maxStack = 256 << 10

// stack is a copy of the value as the text of a stack trace. It may be longer
// than other texts.
func (v value) stack() string {
	if v.kind != text {
		return ""
	}
	return strings.Clone(v.text[:min(len(v.text), maxStack)])
}
