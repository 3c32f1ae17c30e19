// Package kept stores the answers to requests with an Idempotency-Key for a
// day, in a bucket that all nodes share. It must not read an answer, which is
// encrypted with the caller's key.
package kept

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
)

// Answers keeps answers in a bucket, which forgets them after a day.
type Answers struct {
	bucket jetstream.KeyValue
	now    func() time.Time
}

// Open opens the bucket of that name.
func Open(ctx context.Context, js jetstream.JetStream, name string, now func() time.Time) (*Answers, error) {
	bucket, err := js.KeyValue(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("open the bucket of kept answers: %w", err)
	}
	return &Answers{bucket, now}, nil
}

// claimAge is the age at which a claim without an outcome counts as abandoned.
// The server lets no request take that long.
const claimAge = 3 * time.Minute

// request is an entry of the bucket: claimed, or with an outcome.
type request struct {
	Claimed time.Time       `json:"claimed"`
	Outcome json.RawMessage `json:"outcome,omitempty"`
}

// Claim takes the id for a request that is about to be carried out, for
// claimAge. When the request was carried out before, it returns what Finish
// stored. Errors: already_running while another one holds the id,
// log_unavailable.
func (a *Answers) Claim(ctx context.Context, id string) (stored []byte, err error) {
	claim, err := json.Marshal(request{Claimed: a.now()})
	if err != nil {
		return nil, fmt.Errorf("encode a claim: %w", err)
	}
	_, err = a.bucket.Create(ctx, id, claim)
	if err == nil {
		return nil, nil
	}
	if !errors.Is(err, jetstream.ErrKeyExists) {
		return nil, unavailable("claim a request", err)
	}
	entry, err := a.bucket.Get(ctx, id)
	if err != nil {
		return nil, unavailable("read a request", err)
	}
	var found request
	if err := json.Unmarshal(entry.Value(), &found); err != nil {
		return nil, fmt.Errorf("decode a request: %w", err)
	}
	if found.Outcome != nil {
		return found.Outcome, nil
	}
	if a.now().Sub(found.Claimed) > claimAge {
		if _, err = a.bucket.Update(ctx, id, claim, entry.Revision()); err == nil {
			return nil, nil
		}
	}
	running := errata.Errorf(errata.KindAlreadyRunning, "The request with this Idempotency-Key is still being carried out; ask again for its answer.")
	running.RetryAfter = time.Second
	return nil, running
}

// Finish stores the outcome; nil ends the claim, so that the request may be
// sent again. Errors: log_unavailable.
func (a *Answers) Finish(ctx context.Context, id string, outcome []byte) error {
	if outcome == nil {
		if err := a.bucket.Delete(ctx, id); err != nil {
			return unavailable("end a claim", err)
		}
		return nil
	}
	data, err := json.Marshal(request{Claimed: a.now(), Outcome: outcome})
	if err != nil {
		return fmt.Errorf("encode an outcome: %w", err)
	}
	if _, err := a.bucket.Put(ctx, id, data); err != nil {
		return unavailable("store an outcome", err)
	}
	return nil
}

func unavailable(doing string, err error) error {
	return errata.Errorf(errata.KindLogUnavailable, "The store of kept answers does not answer; try again shortly.").
		Because(fmt.Errorf("%s: %w", doing, err))
}
