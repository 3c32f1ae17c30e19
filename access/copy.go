package access

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/internal/bucket"
)

// settingsPrefix, in a bucket of copies, begins the names of entries with what receivers
// must know of a project: settings.7 is that of 7.
const settingsPrefix = "settings."

// CopySettings tells an ingest node, through its bucket of copies, what it must know of
// projects, by number. It has no settings of other projects afterwards. The values are
// for the package that reads them.
func CopySettings(ctx context.Context, settings map[uint64][]byte, to jetstream.KeyValue) error {
	wanted := make(map[string][]byte, len(settings))
	for project, value := range settings {
		wanted[settingsPrefix+strconv.FormatUint(project, 10)] = value
	}
	if err := replace(ctx, to, settingsPrefix, wanted); err != nil {
		return fmt.Errorf("copy the settings of projects: %w", err)
	}
	return nil
}

// Settings are those of the project in the bucket of copies, nil for none. It never
// blocks. The bytes must not be changed; they are others after each change.
func (s *Store) Settings(project uint64) []byte { return s.current.Load().settings[project] }

// copiedEntry is written to a bucket of copies once it has all keys.
const copiedEntry = "copied"

// CopyKeys copies ingest and ops keys into another bucket, for ingest nodes
// that cannot always reach the first one. It copies no admin keys and no times
// of use. It returns when ctx ends or one of the buckets fails.
func CopyKeys(ctx context.Context, from, to jetstream.KeyValue) error {
	ctx, cancel := context.WithCancel(ctx)
	w, err := from.Watch(ctx, keyPrefix+"*")
	if err != nil {
		cancel()
		return fmt.Errorf("watch the keys: %w", err)
	}
	defer bucket.EndWatch(w, cancel)
	first := map[string][]byte{} // until all that was there has come
	for {
		e, err := bucket.NextEntry(ctx, w)
		switch {
		case err != nil:
			return err
		case e == nil:
			if err := replaceKeys(ctx, to, first); err != nil {
				return err
			}
			first = nil
		default:
			value, err := copyOf(ctx, from, e)
			switch {
			case err != nil:
				return err
			case first != nil && value != nil:
				first[e.Key()] = value
			case first != nil:
				delete(first, e.Key())
			default:
				if err := copyKey(ctx, to, e.Key(), value); err != nil {
					return err
				}
			}
		}
	}
}

// copyKey stores the value in the other bucket; nil removes the entry there.
func copyKey(ctx context.Context, to jetstream.KeyValue, name string, value []byte) (err error) {
	if value == nil {
		err = to.Delete(ctx, name)
	} else {
		_, err = to.Put(ctx, name, value)
	}
	if err != nil {
		return fmt.Errorf("copy the entry %s: %w", name, err)
	}
	return nil
}

// copyOf is the value that the other bucket gets of the entry, nil for none.
func copyOf(ctx context.Context, from jetstream.KeyValue, e jetstream.KeyValueEntry) (value []byte, err error) {
	if e.Operation() != jetstream.KeyValuePut {
		return nil, nil
	}
	if value, err = ownValue(ctx, from, e.Key(), e.Value()); err != nil || value == nil {
		return nil, err
	}
	r, err := parseRecord(e.Key()[len(keyPrefix):], value)
	if err != nil || r.Kind != KindIngest && r.Kind != KindOps {
		return nil, nil //nolint:nilerr // a key that cannot be read opens nothing
	}
	return value, nil
}

// replaceKeys makes the bucket hold exactly the keys, and writes copiedEntry.
func replaceKeys(ctx context.Context, to jetstream.KeyValue, keys map[string][]byte) error {
	if err := replace(ctx, to, keyPrefix, keys); err != nil {
		return err
	}
	if _, err := to.PutString(ctx, copiedEntry, time.Now().UTC().Format(time.RFC3339)); err != nil {
		return fmt.Errorf("note that the keys are copied: %w", err)
	}
	return nil
}

// replace makes the bucket hold exactly these entries under the prefix. It changes the
// map.
func replace(ctx context.Context, to jetstream.KeyValue, prefix string, entries map[string][]byte) error {
	lister, err := to.ListKeysFiltered(ctx, prefix+"*")
	if err != nil {
		return fmt.Errorf("list what was copied: %w", err)
	}
	var there []string
	for name := range lister.Keys() {
		there = append(there, name)
	}
	for _, name := range there {
		if value, wanted := entries[name]; !wanted {
			entries[name] = nil // it is removed
		} else if have, err := to.Get(ctx, name); err == nil && bytes.Equal(have.Value(), value) {
			delete(entries, name)
		}
	}
	for name, value := range entries {
		if err := copyKey(ctx, to, name, value); err != nil {
			return err
		}
	}
	return nil
}

// Copied says whether [CopyKeys] has filled the bucket at least once. Until
// then a key that is missing in it may still be good.
func Copied(ctx context.Context, bucket jetstream.KeyValue) (bool, error) {
	_, err := bucket.Get(ctx, copiedEntry)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look whether the keys are copied: %w", err)
	}
	return true, nil
}
