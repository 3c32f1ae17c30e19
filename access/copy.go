package access

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// copiedEntry stands in a bucket of copies once it has had all keys.
const copiedEntry = "copied"

// CopyKeys keeps the ingest keys and those that only read status and metrics in
// another bucket, where events are taken and the first one is not always in
// reach. Admin keys, and when keys were used, are not copied. It goes on until
// ctx ends or one of the buckets fails, which it returns.
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
		case first != nil:
			if isCopied(e) {
				first[e.Key()] = e.Value()
			} else {
				delete(first, e.Key())
			}
		case isCopied(e):
			if _, err := to.Put(ctx, e.Key(), e.Value()); err != nil {
				return fmt.Errorf("copy a key: %w", err)
			}
		default:
			if err := to.Delete(ctx, e.Key()); err != nil {
				return fmt.Errorf("remove the copy of a key: %w", err)
			}
		}
	}
}

func isCopied(e jetstream.KeyValueEntry) bool {
	if e.Operation() != jetstream.KeyValuePut {
		return false
	}
	r, err := parseRecord(e.Key()[len(keyPrefix):], e.Value())
	return err == nil && (r.Kind == KindIngest || r.Kind == KindOps)
}

// replaceKeys makes the bucket hold the keys, and says in it that it does.
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
		value, wanted := keys[name]
		if !wanted {
			if err := to.Delete(ctx, name); err != nil {
				return fmt.Errorf("remove the copy of a key: %w", err)
			}
			continue
		}
		if have, err := to.Get(ctx, name); err == nil && bytes.Equal(have.Value(), value) {
			delete(keys, name)
		}
	}
	for name, value := range keys {
		if _, err := to.Put(ctx, name, value); err != nil {
			return fmt.Errorf("copy a key: %w", err)
		}
	}
	if _, err := to.PutString(ctx, copiedEntry, time.Now().UTC().Format(time.RFC3339)); err != nil {
		return fmt.Errorf("say that the keys are copied: %w", err)
	}
	return nil
}

// Copied says whether the bucket has had the keys of another at least once,
// see [CopyKeys]. Until then a key that is not in it may be good.
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
