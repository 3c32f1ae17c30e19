// Package bucket stores values that several nodes change at the same time, in
// buckets of NATS: a change succeeds only when nobody has changed the value
// since it was read.
//
// The package must not know what the values are.
package bucket

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Errors of a [Store]. Any other error means that it is not available.
var (
	// ErrNotFound: there is no value under the key.
	ErrNotFound = errors.New("no such key")
	// ErrConflict: the value has changed since it was read.
	ErrConflict = errors.New("the value has changed")
	// ErrFull: there is no room for the value.
	ErrFull = errors.New("the store is full")
)

// Store keeps values that are changed by compare-and-swap only.
type Store interface {
	// Get is the value under a key and its revision; ErrNotFound.
	Get(ctx context.Context, key string) (value []byte, revision uint64, err error)
	// Put stores a value in place of the one of that revision, 0 for none, and returns
	// its own. Errors: ErrConflict when another one is there, ErrFull.
	Put(ctx context.Context, key string, value []byte, revision uint64) (written uint64, err error)
	// Delete removes a key; it is no error when there is none.
	Delete(ctx context.Context, key string) error
}

// Open is the bucket of that name, which must exist.
func Open(ctx context.Context, js jetstream.JetStream, name string) (Store, error) {
	bucket, err := js.KeyValue(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("open the bucket %s: %w", name, err)
	}
	return KV(bucket), nil
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

// codeStoreFailed is the answer of a stream that has reached its limit.
const codeStoreFailed = 10077

func (k kv) Put(ctx context.Context, key string, value []byte, revision uint64) (written uint64, err error) {
	if revision == 0 {
		written, err = k.bucket.Create(ctx, key, value)
	} else {
		written, err = k.bucket.Update(ctx, key, value, revision)
	}
	var refusal *jetstream.APIError
	switch refused := errors.As(err, &refusal); {
	case errors.Is(err, jetstream.ErrKeyExists),
		refused && refusal.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence,
		refused && refusal.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant:
		return 0, ErrConflict // streams with replicas have another code
	case refused && refusal.ErrorCode == codeStoreFailed:
		return 0, errors.Join(ErrFull, err)
	}
	return written, err
}

func (k kv) Delete(ctx context.Context, key string) error { return k.bucket.Purge(ctx, key) }
