package familiar

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"
)

// Errors of a [Store]. Everything else means that it is away.
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
	// Put stores a value in place of the one of that revision, 0 for none.
	// Errors: ErrConflict when another one is there, ErrFull.
	Put(ctx context.Context, key string, value []byte, revision uint64) error
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

// codeStoreFailed is what a stream answers whose limit is reached.
const codeStoreFailed = 10077

func (k kv) Put(ctx context.Context, key string, value []byte, revision uint64) (err error) {
	if revision == 0 {
		_, err = k.bucket.Create(ctx, key, value)
	} else {
		_, err = k.bucket.Update(ctx, key, value, revision)
	}
	var refusal *jetstream.APIError
	switch refused := errors.As(err, &refusal); {
	case errors.Is(err, jetstream.ErrKeyExists),
		refused && refusal.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence,
		refused && refusal.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant:
		return ErrConflict // streams with replicas have another code
	case refused && refusal.ErrorCode == codeStoreFailed:
		return errors.Join(ErrFull, err)
	}
	return err
}
