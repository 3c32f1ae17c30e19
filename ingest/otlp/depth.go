package otlp

import (
	"github.com/VictoriaMetrics/easyproto"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/lenient"
)

// errTooDeep refuses a request. Nobody honest sends such: most protobuf
// libraries read at most 100 messages inside each other, and a value of 64
// levels takes 128.
var errTooDeep = errata.Errorf(errata.KindInvalidBody, "a value is nested more than %d levels deep", ingest.MaxDepth)

func anyTooDeep(attrs []attr) bool {
	for i := range attrs {
		if attrs[i].value.tooDeep() {
			return true
		}
	}
	return false
}

// tooDeep says whether lists stand more than [ingest.MaxDepth] levels deep in
// the value.
func (v *value) tooDeep() bool {
	switch v.kind {
	case nestedProto:
		return protoDeeper(v.bytes, ingest.MaxDepth)
	case nestedJSON:
		return jsonDeeper(v.bytes, ingest.MaxDepth)
	default:
		return false
	}
}

// protoDeeper says whether an AnyValue holds more levels of lists. Broken
// framing in it is no depth. There can be millions of elements, so nothing is
// allocated here.
func protoDeeper(any []byte, levels int) bool {
	var fc easyproto.FieldContext
	for len(any) > 0 {
		var err error
		if any, err = fc.NextField(any); err != nil {
			return false
		}
		list, ok := fc.MessageData()
		if !ok || fc.FieldNum != fieldArray && fc.FieldNum != fieldPairs {
			continue
		}
		if levels == 0 || listDeeper(list, fc.FieldNum == fieldPairs, levels-1) {
			return true
		}
	}
	return false
}

// listDeeper says it of the elements of an array or of a list of pairs.
func listDeeper(list []byte, pairs bool, levels int) bool {
	var fc easyproto.FieldContext
	for len(list) > 0 {
		var err error
		if list, err = fc.NextField(list); err != nil {
			return false
		}
		element, ok := fc.MessageData()
		if !ok || fc.FieldNum != 1 {
			continue
		}
		if pairs && pairDeeper(element, levels) || !pairs && protoDeeper(element, levels) {
			return true
		}
	}
	return false
}

func pairDeeper(pair []byte, levels int) bool {
	var fc easyproto.FieldContext
	for len(pair) > 0 {
		var err error
		if pair, err = fc.NextField(pair); err != nil {
			return false
		}
		if any, ok := fc.MessageData(); ok && fc.FieldNum == fieldValue && protoDeeper(any, levels) {
			return true
		}
	}
	return false
}

// jsonDeeper says the same of valid JSON by its brackets: a level of an array
// has three, {"arrayValue":{"values":[, and one of pairs four, with the pair.
func jsonDeeper(raw []byte, levels int) bool {
	const brackets = 4
	var s lenient.Scan
	s.Run(raw)
	return s.Deepest > brackets*levels
}
