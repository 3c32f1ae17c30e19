package access

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/internal/background"
)

// Config is what a [Store] needs.
type Config struct {
	// Bucket holds the keys. Required; the store never creates it.
	Bucket jetstream.KeyValue
	// Now is the clock, nil for the system's.
	Now func() time.Time
	// Random is the source of secrets, nil for the system's. Several goroutines
	// read it at once.
	Random io.Reader
	// CopyFile is a file that gets a copy of all keys, with the hashes of their
	// secrets, for [Mend]; "" for none.
	CopyFile string
	// Logger gets what the operator should know, nil for nothing.
	Logger *slog.Logger
	// Skipped is called for an entry that has the name of a key's and is none,
	// perhaps more than once; nil for no calls.
	Skipped func(revision uint64, why error)
}

// Store keeps the API keys in a bucket and a copy of them in memory. All
// methods may be called at once from many goroutines.
type Store struct {
	bucket  jetstream.KeyValue
	now     func() time.Time
	random  io.Reader
	logger  *slog.Logger
	skipped func(revision uint64, why error)

	current atomic.Pointer[snapshot]
	// uses carries the ids of keys whose use is to be noted. When it is full, a
	// use is not noted: a request must not wait for that.
	uses chan string

	work background.Runner
}

// usesCapacity lets a burst of different keys be noted while the bucket is slow.
const usesCapacity = 256

// Open reads all keys and follows the bucket until [Store.Close]. ctx bounds
// the first read only.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Bucket == nil {
		return nil, errors.New("access: Bucket is missing")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Random = cmp.Or(cfg.Random, rand.Reader)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Skipped == nil {
		cfg.Skipped = func(uint64, error) {}
	}
	s := &Store{
		bucket: cfg.Bucket, now: cfg.Now, logger: cfg.Logger, skipped: cfg.Skipped,
		random: cfg.Random,
		uses:   make(chan string, usesCapacity),
	}
	read, failed := make(chan struct{}), make(chan error, 1)
	s.work.Start(s.follow(read, failed), s.noteUses, func(ctx context.Context) {
		select {
		case <-read:
			s.keepCopies(ctx, cfg.CopyFile)
		case <-ctx.Done():
		}
	})
	var err error
	select {
	case <-read:
		return s, nil
	case err = <-failed:
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.Close()
	return nil, fmt.Errorf("read the API keys: %w", err)
}

// Close stops following the bucket. The keys last read stay in force. It may be
// called more than once.
func (s *Store) Close() { _ = s.work.Stop(context.Background()) }

// List returns all keys, also expired and revoked ones, oldest first.
func (s *Store) List() []Key {
	snap := s.current.Load()
	keys := make([]Key, 0, len(snap.byID))
	for _, e := range snap.byID {
		keys = append(keys, e.current())
	}
	slices.SortFunc(keys, func(a, b Key) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return keys
}

// Changed is closed when this node knows of a change of the keys or of what they are used
// for, after which List may be another one.
func (s *Store) Changed() <-chan struct{} { return s.current.Load().replaced }
