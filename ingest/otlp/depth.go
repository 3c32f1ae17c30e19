package otlp

import (
	"github.com/VictoriaMetrics/easyproto"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/lenient"
)

// errTooDeep refuses a request. No real client sends one: most protobuf libraries
// read at most 100 messages inside each other, and 64 levels take 128.
var errTooDeep = errata.Errorf(errata.KindInvalidBody, "a value is nested more than %d levels deep", ingest.MaxDepth)

func anyTooDeep(attrs []attr) bool {
	for i := range attrs {
		if attrs[i].value.tooDeep() {
			return true
		}
	}
	return false
}

// tooDeep says whether the value has more than [ingest.MaxDepth] levels of lists.
func (v *value) tooDeep() bool {
	switch v.kind {
	case nestedProto:
		return protoDeeper(v.bytes, anyValue, ingest.MaxDepth)
	case nestedJSON:
		return jsonDeeper(v.bytes, ingest.MaxDepth)
	default:
		return false
	}
}

// message is one of the messages that nest in each other.
type message uint8

const (
	anyValue message = iota
	array
	pairList
	keyValue
)

// protoDeeper says whether a message holds more than the given levels of lists.
// Broken framing has no depth. The function allocates nothing, because a message
// can have millions of elements.
func protoDeeper(text []byte, of message, levels int) bool {
	var fc easyproto.FieldContext
	for len(text) > 0 {
		var err error
		if text, err = fc.NextField(text); err != nil {
			return false
		}
		inner, ok := fc.MessageData()
		if !ok {
			continue
		}
		next, left := anyValue, levels
		switch n := fc.FieldNum; {
		case of == anyValue && n == fieldArray:
			next, left = array, levels-1
		case of == anyValue && n == fieldPairs:
			next, left = pairList, levels-1
		case of == pairList && n == 1:
			next = keyValue
		case of == array && n == 1, of == keyValue && n == fieldValue:
		default:
			continue
		}
		if left < 0 || protoDeeper(inner, next, left) {
			return true
		}
	}
	return false
}

// jsonDeeper does the same for valid JSON, by its brackets: a level of an array
// has three, {"arrayValue":{"values":[, and a level of pairs has four.
func jsonDeeper(raw []byte, levels int) bool {
	const brackets = 4
	var s lenient.Scan
	s.Run(raw)
	return s.Deepest > brackets*levels
}
