package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

const (
	// maxElements is what an entry keeps of an array in a request: a person
	// recognises the request, and a delete of 1,000 signatures stays small.
	maxElements = 50
	// maxPart bounds one of the four JSON values of an entry, in bytes. Four of
	// them and the rest stay below the megabyte that the stream takes, so that
	// no change is too large for an entry.
	maxPart = 64 << 10
)

// part is text as a JSON value of an entry: null for nothing, and a digest
// where it is no JSON or too long.
func part(text []byte) json.RawMessage {
	switch {
	case len(text) == 0:
		return nil
	case len(text) > maxPart, !json.Valid(text):
		return digest(text)
	}
	return text
}

// requestPart is part with long arrays cut.
func requestPart(text []byte) json.RawMessage {
	var value any
	if decodeJSON(text, &value) != nil {
		return part(text)
	}
	short, err := canonical(shorten(value))
	if err != nil {
		return digest(text)
	}
	if len(short) > maxPart {
		return digest(text)
	}
	return short
}

// shorten replaces arrays of more than maxElements by their first elements and
// their number.
func shorten(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			value[name] = shorten(member)
		}
	case []any:
		for i := range min(len(value), maxElements) {
			value[i] = shorten(value[i])
		}
		if len(value) > maxElements {
			return map[string]any{"first": value[:maxElements], "count": len(value)}
		}
	}
	return value
}

// digest stands for a value that an entry cannot hold. The source still has the
// value.
func digest(text []byte) json.RawMessage {
	sum := sha256.Sum256(text)
	return encode(map[string]any{"bytes": len(text), "sha256": hex.EncodeToString(sum[:])})
}

// encode is for values of our own, which always have a JSON form.
func encode(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}
