package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
)

// errForeign says that somebody else has put messages into the trail. The next
// session names them.
var errForeign = errors.New("there are messages in the audit trail that are no entries of it")

// foreignRun is a run of consecutive messages of the trail that are no entries.
type foreignRun struct {
	first, last uint64 // 0 for none
	sum         hash.Hash
}

// add adds the message with the number n, given by its hash.
func (s *foreignRun) add(n uint64, hash [sha256.Size]byte) {
	if s.first == 0 {
		s.first, s.sum = n, sha256.New()
	}
	s.last = n
	s.sum.Write(hash[:])
}

func (s *foreignRun) count() uint64 {
	if s.first == 0 {
		return 0
	}
	return s.last - s.first + 1
}

// names is the request of the entry that names the messages. sha256 is the hash
// over the SHA-256 of each message in turn.
func (s *foreignRun) names() map[string]any {
	return map[string]any{"first": s.first, "last": s.last, "sha256": hex.EncodeToString(s.sum.Sum(nil))}
}

// namedBy says whether the entry with the fields names exactly these messages.
func (s *foreignRun) namedBy(fields map[string]any) bool {
	want, err := canonical(s.names())
	if err != nil {
		return false
	}
	have, err := canonical(fields["request"])
	return err == nil && bytes.Equal(have, want)
}

// end finds the last entry of the trail at or before the number last, and the
// foreign messages behind it.
func (s stream) end(ctx context.Context, handle jetstream.Stream, last uint64) (head, error) {
	found := head{n: last, hash: firstPrev}
	var behind [][sha256.Size]byte // of each message, newest first
	for n := last; n > 0; n-- {
		// It asks by number and not for the last message: a replica that is
		// behind would answer with an older one.
		msg, err := handle.GetMsg(ctx, n)
		if err != nil {
			return head{}, fmt.Errorf("read audit entry %d: %w", n, err)
		}
		_, sum, problem := sealedAt(msg.Data, n)
		if problem != "" {
			behind = append(behind, sha256.Sum256(msg.Data))
			continue
		}
		e, err := ParseEntry(msg.Data)
		if err != nil {
			return head{}, fmt.Errorf("audit entry %d: %w", n, err)
		}
		found.hash, found.cursors = sum, e.Cursors
		break
	}
	for i, sum := range slices.Backward(behind) {
		found.foreign.add(last-uint64(i), sum)
	}
	return found, nil
}

// nameForeign appends an entry that names the foreign messages behind the last
// entry, so that the chain can go on.
func (s *session) nameForeign(ctx context.Context) error {
	foreign := &s.head.foreign
	if foreign.first == 0 {
		return nil
	}
	for n := foreign.first; n <= foreign.last; n++ {
		s.a.cfg.Skipped(n, errForeign)
	}
	c := change{from: fromLog, entry: Entry{
		Time: stamp(s.a.cfg.Now()), Action: ActionForeign,
		Source: Source{Stream: s.a.cfg.Stream, Sequence: foreign.last}, Request: encode(foreign.names()),
	}}
	c.entry.by(errata.Actor{KeyID: errata.ActorService})
	return s.append(ctx, c, s.handled.Log)
}

// checkForForeign returns an error, which ends the session, when foreign
// messages stand behind the last entry.
func (s *session) checkForForeign(ctx context.Context) error {
	handle, err := s.a.trail.open(ctx)
	if err != nil {
		return err
	}
	last := handle.CachedInfo().State.LastSeq
	if last == s.head.n {
		return nil // nobody has written
	}
	now, err := s.a.trail.end(ctx, handle, last)
	if err == nil && now.foreign.first > 0 {
		err = errForeign
	}
	return err
}
