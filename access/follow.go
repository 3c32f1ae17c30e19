package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/internal/bucket"
)

const (
	// watchTimeout bounds setting up the watch: nats.go would wait for a lost
	// answer as long as the watch itself may live.
	watchTimeout = 5 * time.Second
	// rewatchWait is the pause before a lost watch is set up again; to ask a
	// stopped server more often would not help.
	rewatchWait = time.Second
)

// errWatchSlow is why a watch is ended that does not bring what is there.
var errWatchSlow = fmt.Errorf("the bucket was not read within %v", watchTimeout)

// follow keeps the snapshot current. It closes read when it has read all keys
// for the first time, and sends an error before that to failed.
func (s *Store) follow(read chan<- struct{}, failed chan<- error) func(context.Context) {
	// Times of use outlive a lost watch; everything else is read anew, so that
	// what was removed in between goes away.
	used := map[string]*atomic.Int64{}
	loaded := sync.OnceFunc(func() { close(read) })
	tell := background.Tell(s.logger.Warn, "API keys cannot be followed; the last copy stays in force")
	return background.Loop{
		Do:     func(ctx context.Context) error { return s.watch(ctx, newMirror(used), loaded) },
		Pauses: background.Pauses{First: rewatchWait, Most: rewatchWait},
		Failed: func(err error, row int) {
			if s.current.Load() != nil {
				tell(err, row)
			} else if row == 1 {
				failed <- err
			}
		},
	}.Run
}

// watch reads the bucket into m, publishes a snapshot, calls loaded, and then
// publishes each change until the watch or ctx ends. It always returns an
// error.
func (s *Store) watch(ctx context.Context, m *mirror, loaded func()) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := time.AfterFunc(watchTimeout, func() { cancel(errWatchSlow) })
	defer limit.Stop()
	w, err := s.bucket.WatchAll(ctx)
	if err != nil {
		return fmt.Errorf("watch the bucket: %w", err)
	}
	defer bucket.EndWatch(w, func() { cancel(nil) })

	loading, changed := true, false
	for {
		e, err := bucket.NextEntry(ctx, w)
		switch {
		case err != nil:
			return err
		case e == nil: // all that was there has come
			limit.Stop()
			loading, changed = false, false
			s.publish(m.snapshot())
			loaded()
		default:
			matters, err := m.apply(e)
			switch {
			case errors.Is(err, errForeign):
				s.skipped(e.Revision(), err)
				if err := s.recall(ctx, m, e); err != nil {
					return err
				}
			case err != nil:
				s.skipped(e.Revision(), err)
				s.logger.Error("API key is unreadable and therefore refused", "error", err)
			}
			// Entries that wait already are applied first: a burst makes one copy.
			changed = changed || matters
			if changed && !loading && len(w.Updates()) == 0 {
				s.publish(m.snapshot())
				changed = false
			}
		}
	}
}

// recall finds the record that a foreign entry has replaced. The mirror lacks
// it when its first reading of the bucket meets the foreign entry.
func (s *Store) recall(ctx context.Context, m *mirror, foreign jetstream.KeyValueEntry) error {
	id := strings.TrimPrefix(foreign.Key(), keyPrefix)
	if _, there := m.records[id]; there {
		return nil
	}
	own, err := ownValue(ctx, s.bucket, foreign.Key(), foreign.Value())
	if err != nil || own == nil {
		return err
	}
	if r, err := parseRecord(id, own); err == nil {
		m.records[id] = r
	}
	return nil
}

// ownValue is the value of a key's entry, or the newest one before it where the
// value is foreign; nil when the history of the bucket holds none.
func ownValue(ctx context.Context, bucket jetstream.KeyValue, name string, value []byte) ([]byte, error) {
	id := strings.TrimPrefix(name, keyPrefix)
	if _, err := parseRecord(id, value); !errors.Is(err, errForeign) {
		return value, nil
	}
	history, err := bucket.History(ctx, name)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the history of a key: %w", err)
	}
	for _, e := range slices.Backward(history) {
		if e.Operation() != jetstream.KeyValuePut {
			return nil, nil
		}
		if _, err := parseRecord(id, e.Value()); !errors.Is(err, errForeign) {
			return e.Value(), nil
		}
	}
	return nil, nil
}

// publish puts the snapshot in force and wakes those who wait for it.
func (s *Store) publish(next *snapshot) {
	if old := s.current.Swap(next); old != nil {
		close(old.replaced)
	}
}

// await returns when the snapshot holds the revision, or with ctx's error.
func (s *Store) await(ctx context.Context, revision uint64) error {
	for {
		snap := s.current.Load()
		if snap.revision >= revision {
			return nil
		}
		select {
		case <-snap.replaced:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
