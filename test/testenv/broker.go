package testenv

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/migrations"
)

// Broker is the environment of a test that needs no ClickHouse.
type Broker struct {
	NATS      *nats.Conn
	JetStream jetstream.JetStream
	// Namespace keeps the stream and the buckets apart from those of others.
	Namespace string
	// Dir is an empty folder that is removed after the test.
	Dir string

	t        testing.TB
	backends backends
	unique   string // part of all names
	nats     *engine.NATS
}

// NewBroker gives the test a NATS of its own, with the log's stream and buckets,
// and removes it when the test ends.
func NewBroker(t testing.TB) *Broker {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	return newBroker(ctx, t)
}

func newBroker(ctx context.Context, t testing.TB) *Broker {
	t.Helper()
	unique := randomName()
	b := &Broker{
		Namespace: "t" + unique,
		Dir:       t.TempDir(),
		t:         t,
		backends:  chooseBackends(ctx, t),
		unique:    unique,
	}
	b.start(ctx)
	if err := migrations.Log(ctx, b.JetStream, migrations.LogConfig{Namespace: b.Namespace, MaxBytes: logBytes}); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *Broker) start(ctx context.Context) {
	b.t.Helper()
	var err error
	b.nats, err = engine.StartNATS(ctx, engine.NATSConfig{
		URL:      b.backends.natsURL,
		StoreDir: filepath.Join(b.Dir, "nats"),
		MaxStore: storeBytes,
		Logger:   quiet(),
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.NATS, b.JetStream = b.nats.Conn(), b.nats.JetStream()
	b.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		if b.backends.natsURL != "" {
			b.dropStreams(ctx)
		}
		if err := b.nats.Stop(ctx); err != nil {
			b.t.Error(err)
		}
	})
}

// dropStreams removes the test's streams from an external server.
func (b *Broker) dropStreams(ctx context.Context) {
	for _, name := range migrations.Stores(b.Namespace) {
		if err := b.JetStream.DeleteStream(ctx, name); err != nil {
			b.t.Errorf("remove stream %s: %v", name, err)
		}
	}
}
