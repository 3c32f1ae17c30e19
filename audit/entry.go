package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Entry is one line of the trail. The values that are JSON are null where
// there is nothing to say.
type Entry struct {
	// N counts from 1 without gaps; it is the sequence in the stream.
	N uint64 `json:"n"`
	// Time is when the source took the change, in milliseconds.
	Time      time.Time `json:"time"`
	Actor     Actor     `json:"actor"`
	Action    string    `json:"action"`
	Route     string    `json:"route"`
	Scope     string    `json:"scope"`
	RequestID string    `json:"request_id"`
	// Before and After are the thing that was changed.
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
	// Request is what was asked for, Result what came of it.
	Request json.RawMessage `json:"request"`
	Result  json.RawMessage `json:"result"`
	Source  Source          `json:"source"`
	Cursors Cursors         `json:"cursors"`
	// Prev is the Hash of the entry before, zeros for the first; see [Chain].
	Prev string `json:"prev"`
	Hash string `json:"hash"`
}

// Actor is who asked for a change; see errata.Actor.
type Actor struct {
	KeyID   string `json:"key_id"`
	KeyName string `json:"key_name"`
	IP      string `json:"ip"`
}

// Source is the fact that an entry was made of.
type Source struct {
	Stream   string `json:"stream"`
	Sequence uint64 `json:"sequence"`
}

// Cursors are the last sequences of the sources that have been dealt with.
type Cursors struct {
	Log  uint64 `json:"log"`
	Keys uint64 `json:"keys"`
}

// firstPrev is the Prev of the first entry.
var firstPrev = strings.Repeat("0", 2*sha256.Size)

// seal numbers the entry, ties it to the one before, and returns it with its
// message, which is its canonical form.
func (e Entry) seal(n uint64, prev string) (Entry, []byte, error) {
	e.N, e.Prev, e.Hash = n, prev, ""
	plain, err := json.Marshal(e)
	if err != nil {
		return Entry{}, nil, fmt.Errorf("encode audit entry %d: %w", n, err)
	}
	fields, err := decodeFields(plain)
	if err != nil {
		return Entry{}, nil, fmt.Errorf("encode audit entry %d: %w", n, err)
	}
	if e.Hash, err = hashOf(fields); err != nil {
		return Entry{}, nil, fmt.Errorf("hash audit entry %d: %w", n, err)
	}
	fields["hash"] = e.Hash
	message, err := canonical(fields)
	return e, message, err
}

// hashOf is the hash of an entry given by its fields:
//
//	hex(SHA-256(prev + canonical(entry without the members prev and hash)))
//
// with prev as the 64 hexadecimal digits that stand in the entry.
func hashOf(fields map[string]any) (string, error) {
	prev, ok := fields["prev"].(string)
	if !ok {
		return "", errors.New("prev is no text")
	}
	rest := make(map[string]any, len(fields))
	for name, value := range fields {
		if name != "prev" && name != "hash" {
			rest[name] = value
		}
	}
	text, err := canonical(rest)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(append([]byte(prev), text...))
	return hex.EncodeToString(sum[:]), nil
}

// canonical is the one form of a JSON value: members sorted by the bytes of
// their names, no white space, numbers with the digits they came with, and in
// strings \" \\ \b \f \n \r \t, \u00xx for other control characters, \u2028 and
// \u2029 escaped and nothing else.
func canonical(value any) ([]byte, error) {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// decodeFields reads one JSON object, numbers with their digits.
func decodeFields(message []byte) (map[string]any, error) {
	var fields map[string]any
	if err := decodeJSON(message, &fields); err != nil {
		return nil, err
	}
	if fields == nil {
		return nil, errors.New("no JSON object")
	}
	return fields, nil
}

// decodeJSON reads one JSON value with nothing behind it.
func decodeJSON(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more text behind the JSON value")
	}
	return nil
}

// ParseEntry reads an entry from its message. It does not check the chain.
func ParseEntry(message []byte) (Entry, error) {
	var e Entry
	if err := json.Unmarshal(message, &e); err != nil {
		return Entry{}, fmt.Errorf("read an audit entry: %w", err)
	}
	return e, nil
}
