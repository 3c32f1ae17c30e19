package leaf

import (
	"context"
	"errors"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/projects"
	"github.com/errata-log/errata/test/testenv"
)

// A node takes events as soon as it has a key. Before that it must know the key that hashes
// users, and the settings of the projects.
func TestKeysAreCopiedLast(t *testing.T) {
	env := testenv.NewBroker(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	keys, err := env.JetStream.KeyValue(ctx, migrations.KeysBucket(env.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	store, err := access.Open(ctx, access.Config{Bucket: keys})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.MakeUserKey(ctx); err != nil {
		t.Fatal(err)
	}
	name := env.Namespace + "copies"
	node, err := env.JetStream.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: name, Storage: jetstream.MemoryStorage})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = env.JetStream.DeleteKeyValue(context.WithoutCancel(ctx), name) }() // the server ends with the test
	changes, err := node.WatchAll(ctx)
	if err != nil {
		t.Fatal(err)
	}

	hub := &Hub{cfg: Config{Keys: keys, CopiedKeys: name, Projects: func() map[uint64]projects.AtDoor {
		return map[uint64]projects.AtDoor{7: {Archived: true}}
	}}}
	ended := make(chan error, 1)
	go func() { ended <- hub.copyKeys(env.JetStream)(ctx) }()
	var order []string
	for len(order) < 3 {
		select {
		case e := <-changes.Updates():
			if e != nil { // nil: the end of what was there before
				order = append(order, e.Key())
			}
		case err := <-ended:
			t.Fatalf("copied %q, then %v", order, err)
		}
	}
	if order[2] != "copied" {
		t.Errorf("copied in the order %q, want the keys last", order)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the copy ended with %v", err)
	}
}
