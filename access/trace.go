package access

import (
	"strings"
	"time"

	errata "github.com/errata-log/errata"
)

// TracedEntries is the pattern of the bucket's entries that are keys.
const TracedEntries = keyPrefix + "*"

// Trace is a key as one change left it, for the audit trail. It holds neither
// the hash of the secret nor the public key.
type Trace struct {
	ID      string  `json:"id"`
	Kind    Kind    `json:"kind"`
	Name    string  `json:"name"`
	Scopes  []Scope `json:"scopes"`
	Project uint64  `json:"project"` // 0 for keys that are not for sending events
	// Projects are those of a limited key.
	Projects []uint64  `json:"projects,omitempty"`
	Expires  time.Time `json:"expires,omitzero"`
	Revoked  time.Time `json:"revoked,omitzero"`

	// By is who made the change; the zero Actor where nobody was noted.
	By errata.Actor `json:"-"`
}

// ParseTrace reads an entry of the bucket under [TracedEntries]. Of a record that
// cannot be read it returns what is known, with the error.
func ParseTrace(entry string, value []byte) (Trace, error) {
	id := strings.TrimPrefix(entry, keyPrefix)
	r, err := parseRecord(id, value)
	if err != nil {
		return Trace{ID: id, By: r.By}, err
	}
	return Trace{
		ID: r.ID, Kind: r.Kind, Name: r.Name, Scopes: r.Scopes, Project: r.Project, Projects: r.Projects,
		Expires: r.Expires, Revoked: r.Revoked, By: r.By,
	}, nil
}
