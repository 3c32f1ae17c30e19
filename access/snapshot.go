package access

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// snapshot is everything known of the bucket at one revision. It never
// changes; a newer one takes its place.
type snapshot struct {
	byID     map[string]*entry
	byPublic map[string]*entry
	projects map[uint64]struct{} // claimed
	settings map[uint64][]byte   // of a bucket of copies
	userKey  []byte
	revision uint64
	// replaced is closed when a newer snapshot is in force.
	replaced chan struct{}
}

// entry is one key in memory.
type entry struct {
	key        Key // LastUsedAt stays zero here, see used
	secretHash [sha256.Size]byte
	// used is when the key was last used, Unix milliseconds, 0 for never. All
	// snapshots share it.
	used *atomic.Int64
}

// current is the key with the time of its last use.
func (e *entry) current() Key {
	key := e.key
	if ms := e.used.Load(); ms != 0 {
		key.LastUsedAt = time.UnixMilli(ms).UTC()
	}
	return key
}

// mirror collects what the bucket says, entry by entry, and makes snapshots of
// it. One goroutine owns it.
type mirror struct {
	records  map[string]record
	projects map[uint64]struct{}
	settings map[uint64][]byte
	userKey  []byte
	used     map[string]*atomic.Int64
	revision uint64
}

func newMirror(used map[string]*atomic.Int64) *mirror {
	return &mirror{records: map[string]record{}, projects: map[uint64]struct{}{}, settings: map[uint64][]byte{}, used: used}
}

// apply applies one entry of the bucket. matters says whether a new snapshot is
// needed. The error names an entry that cannot be read: its key is removed, or
// stays as it was when the error is errForeign.
func (m *mirror) apply(e jetstream.KeyValueEntry) (matters bool, err error) {
	m.revision = max(m.revision, e.Revision())
	removed := e.Operation() != jetstream.KeyValuePut
	if id, isKey := strings.CutPrefix(e.Key(), keyPrefix); isKey {
		if removed {
			delete(m.records, id)
			return true, nil
		}
		r, err := parseRecord(id, e.Value())
		switch {
		case err == nil:
			m.records[id] = r
		case !errors.Is(err, errForeign):
			delete(m.records, id)
		}
		return true, err // also for a foreign entry: somebody may wait for its revision
	}
	if n, isProject := parseProject(e.Key()); isProject {
		if removed {
			delete(m.projects, n)
		} else {
			m.projects[n] = struct{}{}
		}
		return true, nil
	}
	if n, isSettings := numberAfter(settingsPrefix, e.Key()); isSettings {
		if m.settings[n] = e.Value(); removed {
			delete(m.settings, n)
		}
		return true, nil
	}
	if e.Key() == userKeyEntry {
		// What is no key does not replace one: another program may have written it.
		if key := parseUserKey(e.Value()); key != nil || removed {
			m.userKey = key
		}
		return true, nil
	}
	if id, isUse := strings.CutPrefix(e.Key(), usedPrefix); isUse && !removed {
		// A use that this node saw itself may be newer than the one noted.
		if at, err := time.Parse(time.RFC3339Nano, string(e.Value())); err == nil {
			raise(m.usedOf(id), at.UnixMilli())
		}
	}
	return false, nil
}

func (m *mirror) usedOf(id string) *atomic.Int64 {
	at := m.used[id]
	if at == nil {
		at = new(atomic.Int64)
		m.used[id] = at
	}
	return at
}

// raise sets v to ms unless it is later already.
func raise(v *atomic.Int64, ms int64) {
	for old := v.Load(); old < ms; old = v.Load() {
		if v.CompareAndSwap(old, ms) {
			return
		}
	}
}

// snapshot copies the mirror.
func (m *mirror) snapshot() *snapshot {
	s := &snapshot{
		byID:     make(map[string]*entry, len(m.records)),
		byPublic: make(map[string]*entry),
		projects: make(map[uint64]struct{}, len(m.projects)),
		settings: maps.Clone(m.settings),
		userKey:  m.userKey,
		revision: m.revision,
		replaced: make(chan struct{}),
	}
	for id, r := range m.records {
		e := &entry{key: r.key(), used: m.usedOf(id)}
		// parseRecord has checked the length and the digits.
		_, _ = hex.Decode(e.secretHash[:], []byte(r.SecretHash))
		s.byID[id] = e
		if r.Kind == KindIngest {
			s.byPublic[r.PublicKey] = e
		}
	}
	for n := range m.projects {
		s.projects[n] = struct{}{}
	}
	return s
}
