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

// ImportBook remembers the imported files, also after the log was purged of their
// events, and lets one import run at a time.
//
// Its bucket has under the hash of a file an [ImportRecord], under "current" the
// hash of the file that was begun last, under "running" the owner of the lock.
type ImportBook struct{ bucket jetstream.KeyValue }

const (
	keyCurrent = "current"
	keyRunning = "running"
)

const (
	// A running import renews its lock every lockRenewal, and counts as dead after
	// lockPatience without a renewal. A wrong guess costs work, but no event is
	// lost or counted twice: blocks are appended by compare-and-set.
	lockRenewal  = time.Second
	lockPatience = 5 * time.Second
	// lockLook is how often an import looks at the lock that it waits for.
	lockLook = 200 * time.Millisecond
)

// ImportRecord says how far a file was imported.
type ImportRecord struct {
	Name string     `json:"name"` // as the operator wrote it
	Book string     `json:"book"`
	Size int64      `json:"size"` // bytes that the hash was made of
	Mark ImportMark `json:"mark"`
	// Started and Finished are UTC; Finished is zero until all is imported.
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished,omitzero"`
}

// NewImportBook returns the ImportBook that is kept in the bucket.
func NewImportBook(bucket jetstream.KeyValue) *ImportBook { return &ImportBook{bucket} }

// Find returns the record of the file with the hash. Kind: log_unavailable.
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

// Begin saves the record of the file with the hash, and makes it the current one.
func (b *ImportBook) Begin(ctx context.Context, fileHash string, r ImportRecord) error {
	if err := b.Save(ctx, fileHash, r); err != nil {
		return err
	}
	return b.put(ctx, keyCurrent, []byte(fileHash))
}

// Current returns the file that was begun last, and its record.
func (b *ImportBook) Current(ctx context.Context) (fileHash string, r ImportRecord, found bool, err error) {
	value, err := b.get(ctx, keyCurrent)
	if value == nil || err != nil {
		return "", r, false, err
	}
	r, found, err = b.Find(ctx, string(value))
	return string(value), r, found, err
}

// Save saves the record of the file with the hash. Kinds: log_full,
// log_unavailable.
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

// Lock keeps other imports from running until release is called. held ends with
// ctx, and also when another import has taken the lock because this process did not
// renew it in time. now is the caller's time. Kind: already_running.
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
			_ = renewing.Stop(context.WithoutCancel(ctx))
			lose(nil)
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishTimeout)
			defer cancel()
			// After an error here the lock is free after lockPatience.
			_ = b.bucket.Delete(ctx, keyRunning, jetstream.LastRevision(revision))
		})
	}, nil
}

var errLockLost = errata.Errorf(errata.KindAlreadyRunning, "another import has begun, because this one did not renew its lock in time")

// take creates the lock, or takes it from a dead owner.
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
		return 0, alreadyRunning(lockRenewal) // the owner has just released it
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

// awaitSilence waits so long and returns nil if the owner did not renew the lock
// meanwhile: a service that starts right after a crash finds its own old lock.
func (b *ImportBook) awaitSilence(ctx context.Context, revision uint64, silence time.Duration) error {
	for over := time.Now().Add(silence); time.Now().Before(over); {
		if !background.Wait(ctx, lockLook) {
			return ctx.Err()
		}
		if entry, err := b.bucket.Get(ctx, keyRunning); err != nil || entry.Revision() != revision {
			return alreadyRunning(lockRenewal) // the owner is alive, or has just released it
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
