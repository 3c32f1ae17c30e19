package access_test

import (
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

var start = time.Date(2026, 11, 21, 3, 58, 25, 123e6, time.UTC)

// clock is a clock that stands until it is moved.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: start} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// newBucket is an empty bucket of the test's own, made as the service makes it.
func newBucket(t testing.TB) jetstream.KeyValue {
	t.Helper()
	env := testenv.NewBroker(t)
	bucket, err := env.JetStream.KeyValue(t.Context(), migrations.KeysBucket(env.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	return bucket
}

// newMortalBucket is a bucket on a server that the test may stop.
func newMortalBucket(t testing.TB) (jetstream.KeyValue, *server.Server) {
	t.Helper()
	ns, err := server.NewServer(&server.Options{
		DontListen: true, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	ns.Start()
	t.Cleanup(func() {
		ns.Shutdown()
		ns.WaitForShutdown()
	})
	if !ns.ReadyForConnections(10 * time.Second) {
		t.Fatal("nats-server is not ready after 10 s")
	}
	js := testenv.DialJetStream(t, "", nats.InProcessServer(ns))
	bucket, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "keys"})
	if err != nil {
		t.Fatal(err)
	}
	return bucket, ns
}

// openStore opens a store, on a bucket of its own unless cfg names one, with a
// clock that stands still unless cfg brings one.
func openStore(t testing.TB, cfg access.Config) (*access.Store, jetstream.KeyValue) {
	t.Helper()
	if cfg.Bucket == nil {
		cfg.Bucket = newBucket(t)
	}
	if cfg.Now == nil {
		cfg.Now = newClock().Now
	}
	store, err := access.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store, cfg.Bucket
}

func create(t testing.TB, store *access.Store, key access.NewKey) (access.Key, string) {
	t.Helper()
	made, text, err := store.Create(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return made, text
}

// eventually waits until the store's watch has made ok true.
func eventually(t testing.TB, store *access.Store, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	late := time.After(limit)
	for {
		changed := store.Changed()
		if ok() {
			return
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("after %v: not %s", limit, what)
		}
	}
}
