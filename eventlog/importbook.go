package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/background"
)

// ImportBook remembers the files that were imported, also when the log that
// their events went through is purged, and lets one import run at a time.
//
// Keys of its bucket: the hash of a file with an [ImportRecord]; "current" with
// the hash of the file begun last; "running" with the owner of the lock.
type ImportBook struct{ bucket jetstream.KeyValue }

const (
	keyCurrent = "current"
	keyRunning = "running"
)

const (
	// lockRenewal is how often a running import says that it is alive, and
	// lockPatience after how long without that it is taken for dead. A mistake
	// costs work and no exactness: blocks are appended by compare-and-set.
	lockRenewal  = time.Second
	lockPatience = 5 * time.Second
	// lockLook is how often somebody who waits for a dead owner's lock looks.
	lockLook = 200 * time.Millisecond
)

// ImportRecord is what is remembered of a file.
type ImportRecord struct {
	Name string     `json:"name"` // as the operator called it
	Book string     `json:"book"`
	Size int64      `json:"size"` // bytes that the hash was made of
	Mark ImportMark `json:"mark"`
	// Started and Finished are UTC; Finished is zero until all is imported.
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished,omitzero"`
}

// NewImportBook is the book in the bucket.
func NewImportBook(bucket jetstream.KeyValue) *ImportBook { return &ImportBook{bucket} }

// Find is the record of the file with the hash.
func (b *ImportBook) Find(ctx context.Context, fileHash string) (r ImportRecord, found bool, err error) {
	value, err := b.get(ctx, fileHash)
	if value == nil || err != nil {
		return r, false, err
	}
	if err := json.Unmarshal(value, &r); err != nil {
		return r, false, fmt.Errorf("read the record of an imported file: %w", err)
	}
	return r, true, nil
}

// Begin notes that the file with the hash is the one under way, and its record.
func (b *ImportBook) Begin(ctx context.Context, fileHash string, r ImportRecord) error {
	if err := b.Save(ctx, fileHash, r); err != nil {
		return err
	}
	return b.put(ctx, keyCurrent, []byte(fileHash))
}

// Current is the file begun last, with its record.
func (b *ImportBook) Current(ctx context.Context) (fileHash string, r ImportRecord, found bool, err error) {
	value, err := b.get(ctx, keyCurrent)
	if value == nil || err != nil {
		return "", r, false, err
	}
	r, found, err = b.Find(ctx, string(value))
	return string(value), r, found, err
}

// Save writes the record of the file with the hash.
func (b *ImportBook) Save(ctx context.Context, fileHash string, r ImportRecord) error {
	value, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode the record of an imported file: %w", err)
	}
	return b.put(ctx, fileHash, value)
}

// get returns nil for a key that is not there.
func (b *ImportBook) get(ctx context.Context, key string) ([]byte, error) {
	entry, err := b.bucket.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, unavailable(fmt.Errorf("read what was imported: %w", err))
	}
	return entry.Value(), nil
}

func (b *ImportBook) put(ctx context.Context, key string, value []byte) error {
	if _, err := b.bucket.Put(ctx, key, value); err != nil {
		if full := asFull(err); full != nil {
			return full
		}
		return unavailable(fmt.Errorf("note what was imported: %w", err))
	}
	return nil
}

// Lock makes sure that no other import runs, until release is called. held ends
// with ctx, and when somebody else has taken the lock because this process was
// not heard of. now is the time by the caller's clock. Kind: already_running.
func (b *ImportBook) Lock(ctx context.Context, now time.Time) (held context.Context, release func(), err error) {
	owner := []byte(nuid.Next())
	revision, err := b.take(ctx, owner, now)
	if err != nil {
		return nil, nil, err
	}
	held, lose := context.WithCancelCause(ctx)
	// Until release, this goroutine alone reads and writes the revision.
	var renewing background.Runner
	renewing.Start(background.Loop{Every: lockRenewal, Do: func(ctx context.Context) error {
		next, err := b.bucket.Update(context.WithoutCancel(ctx), keyRunning, owner, revision)
		switch {
		case err == nil:
			revision = next
		case isMoved(err):
			lose(errLockLost)
		}
		return nil
	}}.Run)
	var once sync.Once
	return held, func() {
		once.Do(func() {
			_ = renewing.Stop(context.Background())
			lose(nil)
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishTimeout)
			defer cancel()
			// What cannot be given back now is free after lockPatience.
			_ = b.bucket.Delete(ctx, keyRunning, jetstream.LastRevision(revision))
		})
	}, nil
}

var errLockLost = errata.Errorf(errata.KindAlreadyRunning, "another import has begun, because this one was not heard of for too long")

// take makes the lock, or takes it from an owner that must be dead.
func (b *ImportBook) take(ctx context.Context, owner []byte, now time.Time) (revision uint64, err error) {
	revision, err = b.bucket.Create(ctx, keyRunning, owner)
	if err == nil {
		return revision, nil
	}
	if !errors.Is(err, jetstream.ErrKeyExists) {
		return 0, unavailable(fmt.Errorf("lock the import: %w", err))
	}
	entry, err := b.bucket.Get(ctx, keyRunning)
	if err != nil {
		return 0, alreadyRunning(lockRenewal) // given back this moment
	}
	if age := max(now.Sub(entry.Created()), 0); age < lockPatience {
		if err := b.awaitSilence(ctx, entry.Revision(), lockPatience-age); err != nil {
			return 0, err
		}
	}
	if revision, err = b.bucket.Update(ctx, keyRunning, owner, entry.Revision()); err != nil {
		return 0, alreadyRunning(lockPatience)
	}
	return revision, nil
}

// awaitSilence returns once the owner of the lock has not been heard of for so
// long: a service that was killed and is called again at once finds its own lock.
func (b *ImportBook) awaitSilence(ctx context.Context, revision uint64, silence time.Duration) error {
	for over := time.Now().Add(silence); time.Now().Before(over); {
		if !background.Wait(ctx, lockLook) {
			return ctx.Err()
		}
		if entry, err := b.bucket.Get(ctx, keyRunning); err != nil || entry.Revision() != revision {
			return alreadyRunning(lockRenewal) // it lives, or gave the lock back this moment
		}
	}
	return nil
}

func alreadyRunning(wait time.Duration) error {
	return &errata.Error{
		Kind:       errata.KindAlreadyRunning,
		Message:    fmt.Sprintf("an import is running, or one broke off less than %s ago; wait until it has ended", lockPatience),
		RetryAfter: wait,
	}
}
