package access

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/nats-io/nats.go/jetstream"
)

// userKeyEntry holds the key that users are hashed with, as hex digits in JSON. All
// nodes share it, and who reads the records does not see it: so users can be counted
// there and not be guessed.
const userKeyEntry = "hash.users"

// UserKeySize is its size in bytes.
const UserKeySize = 32

// UserKey is the key that users are hashed with, nil while there is none that can be
// read. It never blocks. The bytes must not be changed.
func (s *Store) UserKey() []byte { return s.current.Load().userKey }

// MakeUserKey makes the key that users are hashed with, unless there is one. Any number
// of nodes may call it at once, again at each start. Errors: log_unavailable.
func (s *Store) MakeUserKey(ctx context.Context) error {
	if s.UserKey() != nil {
		return nil
	}
	key := make([]byte, UserKeySize)
	if _, err := io.ReadFull(s.random, key); err != nil {
		return fmt.Errorf("make the key that users are hashed with: %w", err)
	}
	value, err := json.Marshal(hex.EncodeToString(key))
	if err != nil {
		return fmt.Errorf("encode the key that users are hashed with: %w", err)
	}
	revision, err := s.bucket.Create(ctx, userKeyEntry, value)
	if errors.Is(err, jetstream.ErrKeyExists) {
		return nil // another node was faster, and the watch brings its key
	}
	if err != nil {
		return unavailable("store the key that users are hashed with", err)
	}
	if err := s.awaitBriefly(ctx, revision); err != nil {
		s.logger.Warn("the key that users are hashed with is stored but not yet known to this node", "error", err)
	}
	return nil
}

// CopyUserKey copies the key that users are hashed with into the bucket of an ingest
// node. As long as there is no such key, copied is false.
func CopyUserKey(ctx context.Context, from, to jetstream.KeyValue) (copied bool, err error) {
	key, err := from.Get(ctx, userKeyEntry)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return false, nil
	}
	if err == nil {
		err = copyKey(ctx, to, userKeyEntry, key.Value())
	}
	if err != nil {
		return false, fmt.Errorf("copy the key that users are hashed with: %w", err)
	}
	return true, nil
}

// parseUserKey is nil for a value that is no key.
func parseUserKey(value []byte) []byte {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return nil
	}
	key, err := hex.DecodeString(text)
	if err != nil || len(key) != UserKeySize {
		return nil
	}
	return key
}
