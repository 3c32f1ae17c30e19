package api

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/internal/nearest"
)

// readAlert is read for the types of rules and channels; known is false for all others.
func readAlert(field string, sent json.RawMessage, to any) (known bool, err error) {
	switch to := to.(type) {
	case *errata.Optional[alerts.ChannelKind]:
		return true, into(to, kindIn, field, sent)
	case *errata.Optional[[]uint64]:
		return true, into(to, numbersIn, field, sent)
	case *errata.Optional[alerts.When]:
		return true, into(to, strictIn[alerts.When], field, sent)
	case **alerts.Reached:
		return true, pointed(to, field, sent)
	case **alerts.Frequency:
		return true, pointed(to, field, sent)
	case **alerts.Spike:
		return true, pointed(to, field, sent)
	case **alerts.Quiet:
		return true, pointed(to, field, sent)
	}
	return false, nil
}

func pointed[T any](to **T, field string, sent json.RawMessage) error {
	value, err := strictIn[T](field, sent)
	if err == nil {
		*to = &value
	}
	return err
}

func kindIn(field string, sent json.RawMessage) (alerts.ChannelKind, error) {
	text, err := textIn(field, sent)
	return alerts.ChannelKind(text), err
}

// numbersIn reads an array of whole numbers that are not negative.
func numbersIn(field string, sent json.RawMessage) (numbers []uint64, err error) {
	var list []json.RawMessage
	if json.Unmarshal(sent, &list) == nil {
		for i := range list {
			list[i] = integral(list[i])
		}
		if sent, err = json.Marshal(list); err != nil {
			return nil, err
		}
	}
	err = read(field, sent, &numbers)
	return numbers, err
}

// strictIn is objectIn, and refuses members that no field has: a condition with a typing
// error would make a rule that never fires, or one that fires too often. Errors:
// invalid_alert, invalid_body.
func strictIn[T any](field string, sent json.RawMessage) (value T, err error) {
	var members map[string]json.RawMessage
	if sent[0] != '{' || json.Unmarshal(sent, &members) != nil {
		return value, wrongType(field, sent, "an object")
	}
	names := memberNames(reflect.TypeFor[T]())
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if slices.Contains(names, name) {
			continue
		}
		instead := "it takes " + strings.Join(names, ", ")
		if near := nearest.Name(name, names); near != "" {
			instead = "the nearest is " + near
		}
		return value, refuse(errata.KindInvalidAlert, field+"."+cut(name), "The field "+field+" has no member "+strconv.Quote(cut(name))+"; "+instead+".")
	}
	err = fill(reflect.ValueOf(&value).Elem(), field+".", members)
	return value, err
}

// memberNames are the names that the fields of a struct have in JSON.
func memberNames(of reflect.Type) (names []string) {
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}
