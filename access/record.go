package access

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	errata "github.com/errata-log/errata"
)

// The bucket holds three sorts of entries and [userKeyEntry]; one of copies also has
// copiedEntry and those of [settingsPrefix]. The time of the last use has an
// entry of its own, so that noting a use can never undo a revocation.
const (
	keyPrefix     = "key."     // + id: a record as JSON
	usedPrefix    = "used."    // + id: time of the last use, RFC 3339
	projectPrefix = "project." // + number: claimed, and never given out again
)

// The versions of the record's JSON. A limited key has a version of its own: a build
// that does not know the limit would let the key see everything, and refuses it
// instead.
const (
	recordVersion        = 1
	limitedRecordVersion = 2
)

// record is a key as it stands in the bucket.
type record struct {
	Version    int       `json:"v"`
	ID         string    `json:"id"`
	Kind       Kind      `json:"kind"`
	Name       string    `json:"name"`
	Scopes     []Scope   `json:"scopes"`
	Project    uint64    `json:"project,omitempty"`
	Projects   []uint64  `json:"projects,omitempty"` // of a limited key
	SecretHash string    `json:"sha256"`             // hex
	PublicKey  string    `json:"public_key,omitempty"`
	Created    time.Time `json:"created"`
	Expires    time.Time `json:"expires,omitzero"`
	Revoked    time.Time `json:"revoked,omitzero"`
	// By is who wrote the record last. Records of old builds name nobody.
	By errata.Actor `json:"by,omitzero"`
}

func newRecord(t Token, n NewKey, now time.Time) record {
	sum := hashSecret(t.Secret)
	r := record{
		Version: recordVersion, ID: t.ID, Kind: t.Kind,
		Name: n.Name, Scopes: n.Scopes, Project: n.Project, Projects: n.Projects,
		SecretHash: hex.EncodeToString(sum[:]),
		Created:    now.UTC().Truncate(time.Millisecond),
	}
	if len(r.Projects) > 0 {
		r.Version = limitedRecordVersion
	}
	if !n.ExpiresAt.IsZero() {
		r.Expires = n.ExpiresAt.UTC().Truncate(time.Millisecond)
	}
	if t.Kind == KindIngest {
		r.PublicKey = publicKeyOf(t.Secret)
	}
	return r
}

// errForeign says that an entry is no record but a message of another kind,
// such as an acknowledgement of JetStream. It is ignored, and the record before
// it stays in force. A record that is damaged or of another version ends its
// key instead: it may be a revocation.
var errForeign = errors.New("this is no record of a key")

// parseRecord reads the record of the key with the given id. Anything wrong is
// an error: a key that cannot be read must not open anything.
func parseRecord(id string, value []byte) (record, error) {
	var r record
	if err := json.Unmarshal(value, &r); err != nil {
		return r, fmt.Errorf("key %s: %w", id, err)
	}
	if r.Version == 0 {
		return record{}, fmt.Errorf("key %s: %w", id, errForeign)
	}
	_, kindKnown := kindScopes[r.Kind]
	hash, err := hex.DecodeString(r.SecretHash)
	switch {
	case r.Version != recordVersion && r.Version != limitedRecordVersion:
		return r, fmt.Errorf("key %s: record version %d, this build reads %d and %d", id, r.Version, recordVersion, limitedRecordVersion)
	case (r.Version == limitedRecordVersion) != (len(r.Projects) > 0):
		return r, fmt.Errorf("key %s: record version %d with %d projects", id, r.Version, len(r.Projects))
	case r.ID != id || !kindKnown:
		return r, fmt.Errorf("key %s: record of another key or of unknown kind", id)
	case err != nil || len(hash) != sha256.Size:
		return r, fmt.Errorf("key %s: hash of the secret is damaged", id)
	case r.Kind == KindIngest && (r.Project == 0 || len(r.PublicKey) != PublicKeySize):
		return r, fmt.Errorf("key %s: ingest key without project or public key", id)
	}
	return r, nil
}

func (r record) key() Key {
	return Key{
		ID: r.ID, Kind: r.Kind, Name: r.Name, Scopes: r.Scopes,
		Project: r.Project, Projects: r.Projects, PublicKey: r.PublicKey,
		CreatedAt: r.Created, ExpiresAt: r.Expires, RevokedAt: r.Revoked,
	}
}

// parseProject reads the number out of a claim's name in the bucket.
func parseProject(entry string) (uint64, bool) { return numberAfter(projectPrefix, entry) }

// numberAfter reads the number of a project behind the prefix.
func numberAfter(prefix, entry string) (uint64, bool) {
	text, found := strings.CutPrefix(entry, prefix)
	n, err := strconv.ParseUint(text, 10, 64)
	return n, found && err == nil && n > 0
}
