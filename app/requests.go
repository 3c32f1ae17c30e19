package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/migrations"
)

// requests keeps answers in a bucket, which forgets them after a day.
type requests struct {
	bucket jetstream.KeyValue
	now    func() time.Time
}

var _ api.Requests = requests{}

func (a *App) openRequests(ctx context.Context) (err error) {
	bucket, err := a.engines.JetStream().KeyValue(ctx, migrations.RequestsBucket(a.options.Namespace))
	if err != nil {
		return fmt.Errorf("open the bucket of kept answers: %w", err)
	}
	a.requests = requests{bucket, a.options.Now}
	return nil
}

// claimAge is when a request that left no outcome is taken for dead: longer
// than the server lets any request take.
const claimAge = 3 * time.Minute

// request is an entry of the bucket: claimed, or with an outcome.
type request struct {
	Claimed time.Time       `json:"claimed"`
	Outcome json.RawMessage `json:"outcome,omitempty"`
}

// Claim takes the id.
func (r requests) Claim(ctx context.Context, id string) (stored []byte, err error) {
	claim, err := json.Marshal(request{Claimed: r.now()})
	if err != nil {
		return nil, fmt.Errorf("encode a claim: %w", err)
	}
	_, err = r.bucket.Create(ctx, id, claim)
	if err == nil {
		return nil, nil
	}
	if !errors.Is(err, jetstream.ErrKeyExists) {
		return nil, requestsUnavailable("claim a request", err)
	}
	entry, err := r.bucket.Get(ctx, id)
	if err != nil {
		return nil, requestsUnavailable("read a request", err)
	}
	var found request
	if err := json.Unmarshal(entry.Value(), &found); err != nil {
		return nil, fmt.Errorf("decode a request: %w", err)
	}
	if found.Outcome != nil {
		return found.Outcome, nil
	}
	if r.now().Sub(found.Claimed) > claimAge {
		if _, err = r.bucket.Update(ctx, id, claim, entry.Revision()); err == nil {
			return nil, nil
		}
	}
	running := errata.Errorf(errata.KindAlreadyRunning, "The request with this Idempotency-Key is still being carried out; ask again for its answer.")
	running.RetryAfter = time.Second
	return nil, running
}

// Finish stores the outcome or gives the id free.
func (r requests) Finish(ctx context.Context, id string, outcome []byte) error {
	if outcome == nil {
		if err := r.bucket.Delete(ctx, id); err != nil {
			return requestsUnavailable("give a request free", err)
		}
		return nil
	}
	data, err := json.Marshal(request{Claimed: r.now(), Outcome: outcome})
	if err != nil {
		return fmt.Errorf("encode an outcome: %w", err)
	}
	if _, err := r.bucket.Put(ctx, id, data); err != nil {
		return requestsUnavailable("store an outcome", err)
	}
	return nil
}

func requestsUnavailable(doing string, err error) error {
	return errata.Errorf(errata.KindLogUnavailable, "The store of kept answers does not answer; try again shortly.").
		Because(fmt.Errorf("%s: %w", doing, err))
}
