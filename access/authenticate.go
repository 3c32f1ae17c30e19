package access

import (
	"context"
	"crypto/subtle"
	"time"

	errata "github.com/errata-log/errata"
)

// errUnauthorized is the one answer to every key that does not work, so that
// nobody learns whether a key exists, has expired or was revoked.
var errUnauthorized = errata.Errorf(errata.KindUnauthorized,
	"Send a valid API key in the header Authorization: Bearer KEY.")

// nobody stands in for the key that was not found: the same work is done for
// it, so that the time of an answer tells nothing. Its hash is that of no
// secret, since no secret is empty.
var nobody = &entry{secretHash: hashSecret("")}

// Authenticate finds the working key with the given text. The error is always
// the same, of kind unauthorized, whatever is wrong with the key.
func (s *Store) Authenticate(text string) (Key, error) {
	token, parseErr := ParseToken(text)
	e, found := s.current.Load().byID[token.ID]
	if !found {
		e = nobody
	}
	hash := hashSecret(token.Secret)
	same := subtle.ConstantTimeCompare(hash[:], e.secretHash[:]) == 1
	now := s.now()
	live := e.key.live(now)
	if parseErr != nil || !found || !same || !live || token.Kind != e.key.Kind {
		return Key{}, errUnauthorized
	}
	s.touch(e, now)
	return e.current(), nil
}

// AuthenticatePublic finds the working ingest key with the given Sentry public
// key, 32 lower-case hex digits, used for a project. An unknown key and a
// foreign project look the same: the error is that of Authenticate.
func (s *Store) AuthenticatePublic(publicKey string, project uint64) (Key, error) {
	e, found := s.current.Load().byPublic[publicKey]
	if !found {
		e = nobody
	}
	now := s.now()
	live := e.key.live(now)
	if !found || !live || e.key.Project != project {
		return Key{}, errUnauthorized
	}
	s.touch(e, now)
	return e.current(), nil
}

const (
	// useResolution is how often the use of one key is noted at most.
	useResolution = time.Minute
	// noteTimeout bounds one write of a time of use.
	noteTimeout = 5 * time.Second
)

// touch queues the use of a key to be noted, at most once a minute. Of several
// requests at once the first one does it; the others see the new time.
func (s *Store) touch(e *entry, now time.Time) {
	ms, last := now.UnixMilli(), e.used.Load()
	if ms-last < useResolution.Milliseconds() || !e.used.CompareAndSwap(last, ms) {
		return
	}
	select {
	case s.uses <- e.key.ID:
	default:
	}
}

// noteUses writes the times of use to the bucket until ctx ends. A time that
// cannot be written is forgotten: the next use a minute later writes a better one.
func (s *Store) noteUses(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-s.uses:
			e, known := s.current.Load().byID[id]
			if !known {
				continue
			}
			at := time.UnixMilli(e.used.Load()).UTC().Format(time.RFC3339Nano)
			limited, cancel := context.WithTimeout(ctx, noteTimeout)
			if _, err := s.bucket.PutString(limited, usedPrefix+id, at); err != nil && ctx.Err() == nil {
				s.logger.Warn("use of an API key was not noted", "key", id, "error", err)
			}
			cancel()
		}
	}
}
