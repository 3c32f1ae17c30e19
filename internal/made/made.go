// Package made says when a stream of NATS was made, which tells one stream from another of
// the same name: their sequences mean different things.
//
// The server notes a time of its own, and a new one when a stream moves into a cluster. So
// such a stream brings the first one along in its metadata.
//
// The package must not talk to NATS.
package made

import (
	"maps"
	"time"
)

// key names the time in the metadata of a stream.
const key = "made"

// At is when the stream was made: what its metadata say, else what the server says.
func At(created time.Time, metadata map[string]string) time.Time {
	if at, err := time.Parse(time.RFC3339Nano, metadata[key]); err == nil {
		return at
	}
	return created
}

// Keep returns the metadata with which a stream that moves stays the same.
func Keep(created time.Time, metadata map[string]string) map[string]string {
	kept := map[string]string{key: At(created, metadata).UTC().Format(time.RFC3339Nano)}
	for name, value := range maps.All(metadata) {
		if name != key {
			kept[name] = value
		}
	}
	return kept
}
