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

// askTimeout bounds one question to the bucket of keys.
const askTimeout = 1500 * time.Millisecond

// Keyring is the keys of an ingest node. Until the hub has sent all of them
// once, a key that is not there may be good: its sender is told to come back,
// because SDKs throw away what is refused.
type Keyring struct {
	keys   ingest.Keyring
	bucket jetstream.KeyValue
	copied atomic.Bool
}

var _ ingest.Keyring = (*Keyring)(nil)

// NewKeyring looks keys up in those of the bucket, which the hub fills.
func NewKeyring(keys ingest.Keyring, bucket jetstream.KeyValue) *Keyring {
	return &Keyring{keys: keys, bucket: bucket}
}

// ByToken finds the grant of an API key. Errors: those of the keys, and
// log_unavailable instead of them while the hub has not sent its keys.
func (k *Keyring) ByToken(token string) (access.Grant, error) {
	grant, err := k.keys.ByToken(token)
	return grant, k.orUnknown(err)
}

// ByPublicKey finds the grant of the key in a DSN. Errors: those of ByToken.
func (k *Keyring) ByPublicKey(publicKey string, project uint64) (access.Grant, error) {
	grant, err := k.keys.ByPublicKey(publicKey, project)
	return grant, k.orUnknown(err)
}

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
