package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"strings"
	"unicode"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/projects"
	"github.com/errata-log/errata/signin"
)

// read reads the JSON of one member into a field. Errors: invalid_body, for null
// too, and those of the types.
func read(field string, sent json.RawMessage, to any) error {
	switch to := to.(type) {
	case *errata.Optional[bool]:
		return into(to, switchIn[bool], field, sent)
	case *errata.Optional[signin.Flag]:
		return into(to, switchIn[signin.Flag], field, sent)
	case *errata.Optional[string]:
		return into(to, textIn, field, sent)
	case *errata.Optional[[]string]:
		return into(to, textsIn, field, sent)
	case *errata.Optional[[]netip.Prefix]:
		return into(to, rangesIn, field, sent)
	case *errata.Optional[signin.Whitelist]:
		return into(to, whitelistIn, field, sent)
	case *errata.Optional[signin.LocationSidePatch]:
		return into(to, objectIn[signin.LocationSidePatch], field, sent)
	case *errata.Optional[signin.AddressSidePatch]:
		return into(to, objectIn[signin.AddressSidePatch], field, sent)
	case *errata.Optional[filterParameters]:
		return into(to, filterIn, field, sent)
	case *errata.Optional[int]:
		return into(to, numberIn, field, sent)
	case *errata.Optional[projects.Limit]:
		return into(to, limitIn, field, sent)
	case *errata.Optional[projects.LimitsPatch]:
		return into(to, objectIn[projects.LimitsPatch], field, sent)
	case *errata.Optional[projects.ContextPatch]:
		return into(to, objectIn[projects.ContextPatch], field, sent)
	case *errata.Optional[[]projects.Rule]:
		return into(to, objectsIn[projects.Rule], field, sent)
	case *bool:
		value, err := switchIn[bool](field, sent)
		*to = value
		return err
	}
	if known, err := readAlert(field, sent, to); known {
		return err
	}
	if _, optional := to.(interface{ IsSent() bool }); optional { // encoding/json would ignore it silently
		panic(fmt.Sprintf("the field %s is a %T, which this function cannot read", field, to))
	}
	if string(sent) == "null" { // encoding/json would ignore it
		return mismatched(field, "null", jsonName(reflect.TypeOf(to).Elem()))
	}
	if err := refuseNullIn(field, sent, reflect.TypeOf(to).Elem()); err != nil {
		return err
	}
	if kind := reflect.TypeOf(to).Elem().Kind(); kind >= reflect.Int && kind <= reflect.Uint64 {
		sent = integral(sent)
	}
	err := json.Unmarshal(sent, to)
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		found, _, _ := strings.Cut(mismatch.Value, " ") // "number 1.5" names the value too
		return mismatched(field, found, jsonName(mismatch.Type))
	}
	if err != nil {
		return errata.Errorf(errata.KindInvalidBody, "The body cannot be read.").Because(err)
	}
	return nil
}

// refuseNullIn refuses null as an element of an array, which encoding/json takes
// for "" or 0. of is the type of the field.
func refuseNullIn(field string, sent json.RawMessage, of reflect.Type) error {
	var elements []json.RawMessage
	if of.Kind() != reflect.Slice || json.Unmarshal(sent, &elements) != nil {
		return nil //nolint:nilerr // another wrong type is found after this
	}
	for _, element := range elements {
		if string(element) == "null" {
			return mismatched(field+"[]", "null", jsonName(of.Elem()))
		}
	}
	return nil
}

func into[T any](to *errata.Optional[T], read func(string, json.RawMessage) (T, error), field string, sent json.RawMessage) error {
	value, err := read(field, sent)
	if err == nil {
		*to = errata.Sent(value)
	}
	return err
}

// switchIn reads a boolean: 1 or 0, true or false, as they are written here: 1.0 is
// none. Errors: invalid_boolean for other numbers, invalid_body for anything else.
func switchIn[B ~bool](field string, sent json.RawMessage) (B, error) {
	switch string(sent) {
	case "1", "true":
		return true, nil
	case "0", "false":
		return false, nil
	}
	if sent[0] == '-' || '0' <= sent[0] && sent[0] <= '9' {
		return false, errata.Errorf(errata.KindInvalidBoolean, "The field %s is 0 or 1, or false or true.", field).
			With(map[string]any{"field": field, "allowed": []any{0, 1, false, true}})
	}
	return false, wrongType(field, sent, "0 or 1")
}

// textIn reads a string.
func textIn(field string, sent json.RawMessage) (text string, err error) {
	if sent[0] != '"' || json.Unmarshal(sent, &text) != nil {
		return "", wrongType(field, sent, "a string")
	}
	return text, nil
}

// textsIn reads an array of strings.
func textsIn(field string, sent json.RawMessage) ([]string, error) {
	var elements []json.RawMessage
	if sent[0] != '[' || json.Unmarshal(sent, &elements) != nil {
		return nil, wrongType(field, sent, "an array of strings")
	}
	texts := make([]string, 0, len(elements))
	for _, element := range elements {
		text, err := textIn(field+"[]", element)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// objectIn reads an object into the fields of a struct.
func objectIn[T any](field string, sent json.RawMessage) (value T, err error) {
	var members map[string]json.RawMessage
	if sent[0] != '{' || json.Unmarshal(sent, &members) != nil {
		return value, wrongType(field, sent, "an object")
	}
	err = fill(reflect.ValueOf(&value).Elem(), field+".", members)
	return value, err
}

// whitelistIn reads a whitelist, which is sent as one text.
func whitelistIn(field string, sent json.RawMessage) (signin.Whitelist, error) {
	text, err := textIn(field, sent)
	if err != nil {
		return signin.Whitelist{}, err
	}
	list, err := signin.ParseWhitelist(text)
	return list, inField(field, err)
}

// maxRanges bounds addresses and prefixes: each query that an application
// reports is compared with all of them.
const maxRanges = 1000

// rangesIn reads addresses and prefixes: an array of strings, or one string
// with comma, blank or new line between them. Errors: invalid_ip, invalid_body.
func rangesIn(field string, sent json.RawMessage) ([]netip.Prefix, error) {
	var texts []string
	var err error
	switch sent[0] {
	case '"':
		var text string
		text, err = textIn(field, sent)
		texts = strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	case '[':
		texts, err = textsIn(field, sent)
	default:
		err = wrongType(field, sent, "an array of strings, or a string,")
	}
	if err != nil {
		return nil, err
	}
	if len(texts) > maxRanges {
		return nil, errata.Errorf(errata.KindInvalidIP, "The field %s has %d entries and takes at most %d; join addresses into prefixes.", field, len(texts), maxRanges).
			With(map[string]any{"field": field, "max": maxRanges})
	}
	ranges := make([]netip.Prefix, 0, len(texts))
	for i, text := range texts {
		text = strings.TrimSpace(text)
		r, ok := errata.ParsePrefix(text)
		if !ok {
			return nil, errata.Errorf(errata.KindInvalidIP, "%q in %s is neither an address, like 203.0.113.9 or 2001:db8::1, nor a prefix, like 10.0.0.0/8.", cut(text), field).
				With(map[string]any{"field": field, "index": i, "value": cut(text)})
		}
		ranges = append(ranges, r)
	}
	return ranges, nil
}

// wrongType is the error for a member of another JSON type than wanted.
func wrongType(field string, sent json.RawMessage, wanted string) error {
	found := "number"
	switch sent[0] {
	case '"':
		found = "string"
	case '{':
		found = "object"
	case '[':
		found = "array"
	case 't', 'f':
		found = "bool"
	case 'n':
		found = "null"
	}
	return mismatched(field, found, wanted)
}

// mismatched is wrongType with the name of the JSON type that was found.
func mismatched(field, found, wanted string) error {
	return refuse(errata.KindInvalidBody, field, "The field "+field+" holds a JSON "+found+" where "+wanted+" belongs.")
}

// refuse is an error about a field.
func refuse(kind errata.Kind, field, message string) error {
	return &errata.Error{Kind: kind, Message: message, Details: map[string]any{"field": field}}
}

// jsonName is what a Go type is called in JSON.
func jsonName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Pointer:
		return jsonName(t.Elem())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number, not negative"
	default:
		return "a whole number"
	}
}

// inField adds to an error the name of the field that it is about.
func inField(field string, err error) error {
	known, ok := errors.AsType[*errata.Error](err)
	if !ok {
		return err
	}
	details := map[string]any{"field": field}
	if more, ok := known.Details.(map[string]any); ok {
		maps.Copy(details, more)
	}
	named := known.With(details)
	named.Message = field + ": " + known.Message
	return named
}

// cut shortens a caller's text so that it can stand in an answer.
func cut(text string) string {
	const most = 64 // longer than any address
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
