package leaf

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/ingest"
)

// askTimeout bounds one read of the bucket of keys.
const askTimeout = 1500 * time.Millisecond

// Keyring has the keys of an ingest node. Until the hub has sent all keys once, an
// unknown key may be good. Its sender is then told to retry, because SDKs drop an
// event that is refused.
type Keyring struct {
	keys   ingest.Keyring
	bucket jetstream.KeyValue
	copied atomic.Bool
}

var _ ingest.Keyring = (*Keyring)(nil)

// NewKeyring makes a Keyring of the keys in the bucket, which the hub fills.
func NewKeyring(keys ingest.Keyring, bucket jetstream.KeyValue) *Keyring {
	return &Keyring{keys: keys, bucket: bucket}
}

// ByToken finds the grant of an API key. Errors: those of the keys; until the hub has
// sent its keys, log_unavailable.
func (k *Keyring) ByToken(token string) (access.Grant, error) {
	grant, err := k.keys.ByToken(token)
	return grant, k.orUnknown(err)
}

// ByPublicKey finds the grant of the key in a DSN. Errors: those of ByToken.
func (k *Keyring) ByPublicKey(publicKey string, project uint64) (access.Grant, error) {
	grant, err := k.keys.ByPublicKey(publicKey, project)
	return grant, k.orUnknown(err)
}

// orUnknown is err, or the error of Ready while a key may be missing.
func (k *Keyring) orUnknown(err error) error {
	if err == nil {
		return nil
	}
	if unknown := k.Ready(context.Background()); unknown != nil {
		return unknown
	}
	return err
}

// Ready is nil once all keys have come from the hub. Kind: log_unavailable.
func (k *Keyring) Ready(ctx context.Context) error {
	if k.copied.Load() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	copied, err := access.Copied(ctx, k.bucket)
	if err == nil && copied {
		k.copied.Store(true)
		return nil
	}
	return errata.Errorf(errata.KindLogUnavailable,
		"This ingest node has no keys yet: it gets them when it reaches its hub for the first time. Send again.").Because(err)
}

// Check says whether all keys have come from the hub.
func (k *Keyring) Check(ctx context.Context) errata.Check {
	if err := k.Ready(ctx); err != nil {
		return errata.Check{Name: "keys", Detail: err.Error(), Hint: "let this node reach its hub once"}
	}
	return errata.Check{Name: "keys", OK: true, Detail: "copied from the hub"}
}
