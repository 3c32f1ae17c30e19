package client

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"time"
)

const (
	// maxName bounds the name of a value.
	maxName = 200
	// maxValue bounds one value as JSON, in bytes.
	maxValue = 8 << 10
	// maxGroups bounds the depth of groups of attributes.
	maxGroups = 16
)

// plain is the present state of a value, for JSON. It never panics, even if a
// method of the value does, and never follows a cycle.
func plain(value any) (out any) {
	defer func() {
		if recover() != nil {
			out = fmt.Sprintf("%T, which cannot be shown", value)
		}
	}()
	switch v := value.(type) {
	case nil, bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return v
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprint(v)
		}
		return v
	case string:
		return cut(v, maxValue)
	case []byte:
		return fmt.Sprintf("%d bytes", len(v))
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case time.Duration:
		return v.String()
	case error:
		return cut(v.Error(), maxValue)
	case slog.Value:
		return plainSlog(v, maxGroups)
	case slog.LogValuer:
		return plainSlog(slog.AnyValue(v), maxGroups)
	}
	text, err := json.Marshal(value) // finds cycles itself
	switch {
	case err != nil:
		return fmt.Sprintf("%T, which is no JSON", value)
	case len(text) > maxValue:
		return fmt.Sprintf("%T, %d bytes of JSON", value, len(text))
	}
	return json.RawMessage(text)
}

// plainSlog is plain for a value of slog. Groups become objects.
func plainSlog(v slog.Value, depth int) any {
	v = v.Resolve()
	if v.Kind() != slog.KindGroup {
		return plain(v.Any())
	}
	group := map[string]any{}
	if depth > 0 {
		for _, attr := range v.Group() {
			addAttr(group, attr, depth-1)
		}
	}
	return group
}

// addAttr puts an attribute into an object. As slog demands, it inlines a group
// without a name and leaves out an empty attribute.
func addAttr(into map[string]any, attr slog.Attr, depth int) {
	attr.Value = attr.Value.Resolve()
	if attr.Equal(slog.Attr{}) || depth < 0 {
		return
	}
	if attr.Value.Kind() != slog.KindGroup {
		into[cut(attr.Key, maxName)] = plain(attr.Value.Any())
		return
	}
	if attr.Key == "" {
		for _, inner := range attr.Value.Group() {
			addAttr(into, inner, depth-1)
		}
		return
	}
	if len(attr.Value.Group()) > 0 {
		into[cut(attr.Key, maxName)] = plainSlog(attr.Value, depth)
	}
}
