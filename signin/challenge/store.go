package challenge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
)

// Errors of a [Store]. Everything else means that it is away.
var (
	// ErrNotFound: there is no value under the key.
	ErrNotFound = errors.New("no such key")
	// ErrConflict: the value has changed since it was read.
	ErrConflict = errors.New("the value has changed")
)

// Store keeps values that are changed by compare-and-swap only.
type Store interface {
	// Get is the value under a key and its revision; ErrNotFound.
	Get(ctx context.Context, key string) (value []byte, revision uint64, err error)
	// Put stores a value in place of the one of that revision, 0 for none;
	// ErrConflict when another one is there.
	Put(ctx context.Context, key string, value []byte, revision uint64) error
	// Delete removes a key; it is no error when there is none.
	Delete(ctx context.Context, key string) error
}

// KV is a bucket as a Store.
func KV(bucket jetstream.KeyValue) Store { return kv{bucket} }

type kv struct{ bucket jetstream.KeyValue }

func (k kv) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	entry, err := k.bucket.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, 0, ErrNotFound
	}
	if err != nil {
		return nil, 0, err
	}
	return entry.Value(), entry.Revision(), nil
}

func (k kv) Put(ctx context.Context, key string, value []byte, revision uint64) (err error) {
	if revision == 0 {
		_, err = k.bucket.Create(ctx, key, value)
	} else {
		_, err = k.bucket.Update(ctx, key, value, revision)
	}
	if isConflict(err) {
		return ErrConflict
	}
	return err
}

// isConflict knows both codes of a refused revision: streams with replicas have
// another one.
func isConflict(err error) bool {
	var refusal *jetstream.APIError
	return errors.Is(err, jetstream.ErrKeyExists) || errors.As(err, &refusal) &&
		(refusal.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || refusal.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

func (k kv) Delete(ctx context.Context, key string) error { return k.bucket.Purge(ctx, key) }

const (
	// maxConflicts is how often a change is decided anew. Each conflict means
	// that another change went through, and what is changed here comes to rest
	// after a few, so only a flood gets there.
	maxConflicts = 200
	// retryAfter is what callers are told to wait when the store is away.
	retryAfter = 5 * time.Second
	// retryFlood is what they are told in a flood.
	retryFlood = time.Second
)

// change stores what decide makes of a value, the zero value of T where there is
// none. decide is pure and may run more than once; the last run counts. It says
// whether there is anything to store.
func change[T any](ctx context.Context, store Store, key string, decide func(value T, found bool) (T, bool, error)) error {
	for range maxConflicts {
		value, revision, err := get[T](ctx, store, key)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		next, changed, err := decide(value, err == nil)
		if err != nil || !changed {
			return err
		}
		err = put(ctx, store, key, next, revision)
		if !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return &errata.Error{
		Kind: errata.KindRateLimited, Message: "Too many answers at once for the same sign-in; try again shortly.", RetryAfter: retryFlood,
	}
}

func get[T any](ctx context.Context, store Store, key string) (value T, revision uint64, err error) {
	data, revision, err := store.Get(ctx, key)
	if errors.Is(err, ErrNotFound) {
		return value, 0, err
	}
	if err != nil {
		return value, 0, away("read", err)
	}
	if err := json.Unmarshal(data, &value); err != nil {
		return value, 0, fmt.Errorf("read %s: the stored value is damaged: %w", key, err)
	}
	return value, revision, nil
}

func put(ctx context.Context, store Store, key string, value any, revision uint64) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %s: %w", key, err)
	}
	if err := store.Put(ctx, key, data, revision); err != nil && !errors.Is(err, ErrConflict) {
		return away("store", err)
	} else if err != nil {
		return ErrConflict
	}
	return nil
}

func away(what string, err error) error {
	return &errata.Error{
		Kind:       errata.KindLogUnavailable,
		Message:    "Sign-in checks cannot be kept right now; try again shortly.",
		RetryAfter: retryAfter,
		Err:        fmt.Errorf("%s a sign-in check: %w", what, err),
	}
}
