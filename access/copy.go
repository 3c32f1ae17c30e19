package access

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// archivedEntry, in a bucket of copies, has the numbers of the projects that take no
// events, as a JSON array.
const archivedEntry = "archived"

// CopyArchived tells an ingest node, through its bucket of copies, which projects take
// no events.
func CopyArchived(ctx context.Context, projects []uint64, to jetstream.KeyValue) error {
	value, err := json.Marshal(projects)
	if err != nil {
		return fmt.Errorf("encode the archived projects: %w", err)
	}
	if _, err := to.Put(ctx, archivedEntry, value); err != nil {
		return fmt.Errorf("copy the archived projects: %w", err)
	}
	return nil
}

// Archived says whether the bucket of copies names the project as one that takes no
// events. It never blocks.
func (s *Store) Archived(project uint64) bool {
	return slices.Contains(s.current.Load().archived, project)
}

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
	defer drain(w, cancel)
	first := map[string][]byte{} // until all that was there has come
	for {
		var e jetstream.KeyValueEntry
		var open bool
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, open = <-w.Updates():
		}
		switch {
		case !open:
			return errWatchEnded
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

// copyKey stores the value in the other bucket; nil removes the key there.
func copyKey(ctx context.Context, to jetstream.KeyValue, name string, value []byte) (err error) {
	if value == nil {
		err = to.Delete(ctx, name)
	} else {
		_, err = to.Put(ctx, name, value)
	}
	if err != nil {
		return fmt.Errorf("copy a key: %w", err)
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
	lister, err := to.ListKeysFiltered(ctx, keyPrefix+"*")
	if err != nil {
		return fmt.Errorf("list the copied keys: %w", err)
	}
	var there []string
	for name := range lister.Keys() {
		there = append(there, name)
	}
	for _, name := range there {
		if value, wanted := keys[name]; !wanted {
			keys[name] = nil // it is removed
		} else if have, err := to.Get(ctx, name); err == nil && bytes.Equal(have.Value(), value) {
			delete(keys, name)
		}
	}
	for name, value := range keys {
		if err := copyKey(ctx, to, name, value); err != nil {
			return err
		}
	}
	if _, err := to.PutString(ctx, copiedEntry, time.Now().UTC().Format(time.RFC3339)); err != nil {
		return fmt.Errorf("note that the keys are copied: %w", err)
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
