package challenge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/bucket"
)

const (
	// maxConflicts is how often a change is decided anew. Each conflict means
	// that another change was stored, and few change the same value, so only a
	// flood gets there.
	maxConflicts = 200
	// retryAfter is what callers are told to wait when the store is away.
	retryAfter = 5 * time.Second
	// retryFlood is what they are told in a flood.
	retryFlood = time.Second
)

// change stores what decide makes of a value, the zero value of T where there
// is none. decide is pure, may run more than once, and says whether there is
// anything to store; the last run counts.
func change[T any](ctx context.Context, store bucket.Store, key string, decide func(value T, found bool) (T, bool, error)) error {
	for range maxConflicts {
		value, revision, err := get[T](ctx, store, key)
		if err != nil && !errors.Is(err, bucket.ErrNotFound) {
			return err
		}
		next, changed, err := decide(value, err == nil)
		if err != nil || !changed {
			return err
		}
		err = put(ctx, store, key, next, revision)
		if !errors.Is(err, bucket.ErrConflict) {
			return err
		}
	}
	return &errata.Error{
		Kind: errata.KindRateLimited, Message: "Too many answers at once for the same sign-in; try again shortly.", RetryAfter: retryFlood,
	}
}

func get[T any](ctx context.Context, store bucket.Store, key string) (value T, revision uint64, err error) {
	data, revision, err := store.Get(ctx, key)
	if errors.Is(err, bucket.ErrNotFound) {
		return value, 0, err
	}
	if err != nil {
		return value, 0, unavailable("read", err)
	}
	if err := json.Unmarshal(data, &value); err != nil {
		return value, 0, fmt.Errorf("read %s: the stored value is damaged: %w", key, err)
	}
	return value, revision, nil
}

func put(ctx context.Context, store bucket.Store, key string, value any, revision uint64) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %s: %w", key, err)
	}
	if _, err := store.Put(ctx, key, data, revision); err != nil && !errors.Is(err, bucket.ErrConflict) {
		return unavailable("store", err)
	} else if err != nil {
		return bucket.ErrConflict
	}
	return nil
}

func unavailable(what string, err error) error {
	return &errata.Error{
		Kind:       errata.KindLogUnavailable,
		Message:    "Sign-in checks cannot be kept right now; try again shortly.",
		RetryAfter: retryAfter,
		Err:        fmt.Errorf("%s a sign-in check: %w", what, err),
	}
}
