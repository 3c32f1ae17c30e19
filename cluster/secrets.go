package cluster

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/internal/secretfile"
)

// getPause is the pause between two reads of a value that another node has just written.
const getPause = 20 * time.Millisecond

// sealingKey is the length of the key that seals the shared secrets: AES-256.
const sealingKey = 32

// ShareSecrets gives all nodes the same secret files. The first node that comes puts its
// file, or a new secret, into the bucket, sealed with the cluster's secret; each other node
// writes its file from there. A node that has another secret already is an error.
func ShareSecrets(ctx context.Context, bucket jetstream.KeyValue, clusterSecret, dir string, names ...string) error {
	key, err := hkdf.Key(sha256.New, []byte(clusterSecret), nil, "errata cluster: shared secrets", sealingKey)
	if err != nil {
		return fmt.Errorf("make a key of cluster-secret: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return fmt.Errorf("seal with cluster-secret: %w", err)
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return fmt.Errorf("seal with cluster-secret: %w", err)
	}
	for _, name := range names {
		if err := shareSecret(ctx, bucket, seal, dir, name); err != nil {
			return fmt.Errorf("share %s with the other nodes: %w", name, err)
		}
	}
	return nil
}

func shareSecret(ctx context.Context, bucket jetstream.KeyValue, seal cipher.AEAD, dir, name string) error {
	path := filepath.Join(dir, name)
	own, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	offered := own
	if own == nil {
		offered = make([]byte, secretfile.Bytes)
		if _, err := rand.Read(offered); err != nil {
			return err
		}
	}
	entry := "secret." + name
	shared := offered
	_, err = bucket.Create(ctx, entry, seal.Seal(nil, nil, offered, []byte(entry)))
	if errors.Is(err, jetstream.ErrKeyExists) {
		shared, err = unsealed(ctx, bucket, seal, entry)
	}
	switch {
	case err != nil:
		return err
	case own == nil:
		return datadir.WriteFile(path, string(shared))
	case !bytes.Equal(own, shared):
		return fmt.Errorf("%s is not the one of the cluster: this folder was used elsewhere; take that file away, and with it what was sealed there", path)
	}
	return nil
}

func unsealed(ctx context.Context, bucket jetstream.KeyValue, seal cipher.AEAD, entry string) ([]byte, error) {
	sealed, err := bucket.Get(ctx, entry)
	for errors.Is(err, jetstream.ErrKeyNotFound) && background.Wait(ctx, getPause) { // this node's copy does not have it yet
		sealed, err = bucket.Get(ctx, entry)
	}
	if err != nil {
		return nil, err
	}
	text, err := seal.Open(nil, nil, sealed.Value(), []byte(entry))
	if err != nil {
		return nil, errors.New("it is sealed with another secret: cluster-secret must be the same on all nodes, and stay the same")
	}
	return text, nil
}
