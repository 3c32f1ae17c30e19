package otlp

import (
	"github.com/VictoriaMetrics/easyproto"
)

// Fields of AnyValue and KeyValue.
const (
	fieldString = 1
	fieldBool   = 2
	fieldInt    = 3
	fieldDouble = 4
	fieldArray  = 5
	fieldPairs  = 6
	fieldBytes  = 7

	fieldKey   = 1
	fieldValue = 2
)

// each walks the fields of a message. The caller ignores unknown numbers and
// wrong types; only broken framing is an error.
func each(message []byte, field func(fc *easyproto.FieldContext) error) error {
	var fc easyproto.FieldContext
	for len(message) > 0 {
		var err error
		if message, err = fc.NextField(message); err != nil {
			return err
		}
		if err := field(&fc); err != nil {
			return err
		}
	}
	return nil
}

// eachMessage calls visit for the messages in one field.
func eachMessage(message []byte, number uint32, visit func(inner []byte) error) error {
	return each(message, func(fc *easyproto.FieldContext) error {
		if inner, ok := fc.MessageData(); ok && fc.FieldNum == number {
			return visit(inner)
		}
		return nil
	})
}

// readProto walks an export request. It walks each part twice, because a resource
// or a scope may stand behind its records.
func (f *finder) readProto(request []byte) error {
	return eachMessage(request, fieldResources, func(part []byte) error {
		if err := f.visit(); err != nil {
			return err
		}
		f.begin(nil, nil)
		err := eachMessage(part, fieldResource, func(resource []byte) error {
			attrs, err := protoAttrs(f.attrs[:0], resource, fieldAttributes)
			f.begin(resource, attrs)
			f.attrs = attrs
			return err
		})
		if err != nil {
			return err
		}
		return eachMessage(part, fieldScopes, f.protoScope)
	})
}

func (f *finder) protoScope(part []byte) error {
	if err := f.visit(); err != nil {
		return err
	}
	f.scope = ""
	err := eachMessage(part, fieldScope, func(scope []byte) error {
		return each(scope, func(fc *easyproto.FieldContext) error {
			if name, ok := fc.String(); ok && fc.FieldNum == fieldScopeName {
				f.scope = keep(name)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	read := f.protoLog
	if f.signal == &traces {
		read = f.protoSpan
	}
	return eachMessage(part, fieldRecords, read)
}

func (f *finder) protoLog(raw []byte) error {
	if err := f.visit(); err != nil {
		return err
	}
	rec := record{raw: raw, binaryIDs: true, attrs: f.attrs[:0]}
	err := each(raw, func(fc *easyproto.FieldContext) (err error) {
		switch fc.FieldNum {
		case 1:
			n, _ := fc.Fixed64()
			rec.time = int64(n)
		case 2:
			n, _ := fc.Int32()
			rec.severity = int64(n)
		case 3:
			rec.severityText, _ = fc.String()
		case 5:
			if any, ok := fc.MessageData(); ok {
				rec.body, err = protoValue(any)
			}
		case fieldLogAttributes:
			rec.attrs, err = appendAttr(rec.attrs, fc)
		case 9:
			rec.traceID, _ = fc.Bytes()
		case 10:
			rec.spanID, _ = fc.Bytes()
		case 11:
			n, _ := fc.Fixed64()
			rec.observed = int64(n)
		}
		return err
	})
	f.attrs = rec.attrs
	if err != nil {
		return err
	}
	return f.log(&rec)
}

// protoSpan looks for exceptions among the span's events. It reads the attributes
// of the span only when there is one.
func (f *finder) protoSpan(raw []byte) error {
	if err := f.visit(); err != nil {
		return err
	}
	s := span{binaryIDs: true}
	var found [][]byte
	err := each(raw, func(fc *easyproto.FieldContext) error {
		switch fc.FieldNum {
		case 1:
			s.traceID, _ = fc.Bytes()
		case 2:
			s.spanID, _ = fc.Bytes()
		case 5:
			s.name, _ = fc.String()
		case fieldSpanEvents:
			event, _ := fc.MessageData()
			name, _, err := easyproto.GetString(event, 2)
			if err == nil && name == exceptionEvent {
				if len(found) == maxErrors {
					return tooManyErrors()
				}
				found = append(found, event)
			}
			return err
		}
		return nil
	})
	if err != nil || len(found) == 0 {
		return err
	}
	if s.attrs, err = protoAttrs(f.spanAttrs[:0], raw, fieldSpanAttrs); err != nil {
		return err
	}
	f.spanAttrs = s.attrs
	whole, err := f.spanOf(&s)
	for i := 0; err == nil && i < len(found); i++ {
		err = f.protoEvent(whole, found[i])
	}
	return err
}

func (f *finder) protoEvent(s *spanDraft, event []byte) error {
	rec := record{raw: event, attrs: f.attrs[:0]}
	err := each(event, func(fc *easyproto.FieldContext) (err error) {
		switch fc.FieldNum {
		case 1:
			n, _ := fc.Fixed64()
			rec.time = int64(n)
		case 3:
			rec.attrs, err = appendAttr(rec.attrs, fc)
		}
		return err
	})
	f.attrs = rec.attrs
	if err != nil {
		return err
	}
	return f.spanEvent(s, &rec)
}

// protoAttrs appends the attributes in one field of a message.
func protoAttrs(attrs []attr, message []byte, number uint32) ([]attr, error) {
	err := each(message, func(fc *easyproto.FieldContext) (err error) {
		if fc.FieldNum == number {
			attrs, err = appendAttr(attrs, fc)
		}
		return err
	})
	return attrs, err
}

func appendAttr(attrs []attr, fc *easyproto.FieldContext) ([]attr, error) {
	pair, ok := fc.MessageData()
	if !ok {
		return attrs, nil
	}
	a, err := protoAttr(pair)
	if len(attrs) < maxAttributes {
		attrs = append(attrs, a)
	}
	return attrs, err
}

func protoAttr(pair []byte) (a attr, err error) {
	var fc easyproto.FieldContext
	for len(pair) > 0 {
		if pair, err = fc.NextField(pair); err != nil {
			return a, err
		}
		switch fc.FieldNum {
		case fieldKey:
			a.key, _ = fc.String()
		case fieldValue:
			if any, ok := fc.MessageData(); ok {
				if a.value, err = protoValue(any); err != nil {
					return a, err
				}
			}
		}
	}
	return a, nil
}

// protoValue reads an AnyValue. The last of several values counts, as in protobuf.
func protoValue(any []byte) (v value, err error) {
	whole := any
	var fc easyproto.FieldContext
	for len(any) > 0 {
		if any, err = fc.NextField(any); err != nil {
			return v, err
		}
		switch fc.FieldNum {
		case fieldString:
			if s, ok := fc.String(); ok {
				v = value{kind: text, text: s}
			}
		case fieldBool, fieldInt:
			if n, ok := fc.Uint64(); ok {
				v = value{kind: integer, bits: n}
				if fc.FieldNum == fieldBool {
					v.kind = boolean
				}
			}
		case fieldDouble:
			if n, ok := fc.Fixed64(); ok {
				v = value{kind: double, bits: n}
			}
		case fieldArray, fieldPairs:
			v = value{kind: nestedProto, bytes: whole}
		case fieldBytes:
			if b, ok := fc.Bytes(); ok {
				v = value{kind: binary, bytes: b}
			}
		}
	}
	return v, nil
}
