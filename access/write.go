package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
)

const (
	// visibleWithin is how long a write waits until this node's own watch has
	// seen it, which normally takes a millisecond.
	visibleWithin = 2 * time.Second
	// retryAfter is what callers are told to wait when the bucket is away.
	retryAfter = 5 * time.Second
)

// Create makes a key and returns its text, which exists nowhere else. When it
// returns, this node knows the key; other nodes learn it within a second.
// Errors: those of a NewKey that cannot be (invalid_…), log_unavailable.
func (s *Store) Create(ctx context.Context, n NewKey) (Key, string, error) {
	now := s.now()
	n, err := n.check(now)
	if err != nil {
		return Key{}, "", err
	}
	token, err := Mint(s.random, n.Kind)
	if err != nil {
		return Key{}, "", err
	}
	if n.Kind == KindIngest {
		if n.Project, err = s.claimProject(ctx, n.Project, now); err != nil {
			return Key{}, "", err
		}
	}
	r := newRecord(token, n, now)
	r.By = errata.ActorOf(ctx)
	value, err := json.Marshal(r)
	if err != nil {
		return Key{}, "", fmt.Errorf("encode key: %w", err)
	}
	revision, err := s.bucket.Create(ctx, keyPrefix+r.ID, value)
	if err != nil {
		return Key{}, "", unavailable("store key", err)
	}
	if err := s.awaitBriefly(ctx, revision); err != nil {
		// The key is stored; failing now would lose the only copy of its text.
		s.logger.Warn("new API key is stored but not yet known to this node", "key", r.ID, "error", err)
	}
	return r.key(), token.Text(), nil
}

// ClaimProject takes the number so that no new project gets it, for 0 the lowest one
// that is free. Errors: invalid_project, log_unavailable.
func (s *Store) ClaimProject(ctx context.Context, number uint64) (uint64, error) {
	if number > MaxProject {
		return 0, errata.Errorf(errata.KindInvalidProject, "A project is a number from 1 to %d.", MaxProject)
	}
	return s.claimProject(ctx, number, s.now())
}

// claimProject takes the project, or the lowest free one for 0. A number that
// was ever given out stays taken, so that the events of two applications never
// meet; naming a project that exists already makes it a further key.
func (s *Store) claimProject(ctx context.Context, project uint64, now time.Time) (uint64, error) {
	value, err := json.Marshal(map[string]time.Time{"created": now.UTC().Truncate(time.Millisecond)})
	if err != nil {
		return 0, fmt.Errorf("encode project: %w", err)
	}
	claim := func(n uint64) error {
		_, err := s.bucket.Create(ctx, projectPrefix+strconv.FormatUint(n, 10), value)
		return err
	}
	if project != 0 {
		if err := claim(project); err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
			return 0, unavailable("claim project", err)
		}
		return project, nil
	}
	taken := s.current.Load().projects
	for n := uint64(1); n <= MaxProject; n++ {
		if _, isTaken := taken[n]; isTaken {
			continue
		}
		// Another node may have been faster: creating is the compare-and-set.
		switch err := claim(n); {
		case err == nil:
			return n, nil
		case !errors.Is(err, jetstream.ErrKeyExists):
			return 0, unavailable("claim project", err)
		}
	}
	return 0, errata.Errorf(errata.KindInvalidProject, "All %d project numbers are taken.", MaxProject)
}

// ErrNoKey says that there is no key with the id.
var ErrNoKey = errata.Errorf(errata.KindNotFound, "There is no API key with this id.")

// Revoke ends a key for good. When it returns, this node refuses the key;
// other nodes do within a second. Revoking twice changes nothing. Errors:
// not_found, log_unavailable.
func (s *Store) Revoke(ctx context.Context, id string) error {
	if len(id) != idSize || !allDigits(id) {
		return ErrNoKey
	}
	for {
		stored, err := s.bucket.Get(ctx, keyPrefix+id)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			return ErrNoKey
		}
		if err != nil {
			return unavailable("read key", err)
		}
		own, err := ownValue(ctx, s.bucket, keyPrefix+id, stored.Value())
		if err != nil {
			return unavailable("read key", err)
		}
		if own == nil {
			return ErrNoKey
		}
		r, err := parseRecord(id, own)
		if err != nil {
			return fmt.Errorf("revoke: %w", err)
		}
		revision := stored.Revision()
		if r.Revoked.IsZero() {
			r.Revoked = s.now().UTC().Truncate(time.Millisecond)
			r.By = errata.ActorOf(ctx)
			value, err := json.Marshal(r)
			if err != nil {
				return fmt.Errorf("encode key: %w", err)
			}
			revision, err = s.bucket.Update(ctx, keyPrefix+id, value, stored.Revision())
			if errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
				continue // somebody else wrote it: look again
			}
			if err != nil {
				return unavailable("store revocation", err)
			}
		}
		if err := s.awaitBriefly(ctx, revision); err != nil {
			return unavailable("wait until the revocation is known here", err)
		}
		return nil
	}
}

func (s *Store) awaitBriefly(ctx context.Context, revision uint64) error {
	ctx, cancel := context.WithTimeout(ctx, visibleWithin)
	defer cancel()
	return s.await(ctx, revision)
}

// unavailable is what callers are told when the bucket does not answer.
func unavailable(doing string, err error) error {
	return &errata.Error{
		Kind:       errata.KindLogUnavailable,
		Message:    "The store of API keys does not answer; try again shortly.",
		RetryAfter: retryAfter,
		Err:        fmt.Errorf("%s: %w", doing, err),
	}
}
