package engine_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/engine"
)

const leafPassword = "a leaf's password"

// openHub is an embedded NATS that is open to ingest nodes.
func openHub(t *testing.T, dir, addr string) *engine.NATS {
	t.Helper()
	n, err := engine.StartNATS(t.Context(), engine.NATSConfig{
		StoreDir: dir, MaxStore: 64 << 20, Logger: quiet, Leaves: engine.NATSLeaves{Addr: addr, Password: leafPassword},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Stop(context.WithoutCancel(t.Context())) })
	return n
}

func openLeaf(t *testing.T, id, dir, addr, password string) *engine.NATS {
	t.Helper()
	u := url.URL{Scheme: "nats", User: url.UserPassword(engine.LeafUser, password), Host: addr}
	n, err := engine.StartNATS(t.Context(), engine.NATSConfig{
		StoreDir: dir, MaxStore: 64 << 20, Logger: quiet, Hub: engine.NATSHub{URL: u.String(), ID: id},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Stop(context.WithoutCancel(t.Context())) })
	return n
}

// await looks until there is what is waited for; otherwise is what to say if it does not
// come.
func await(t *testing.T, there func() bool, otherwise func() string) {
	t.Helper()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for late := time.After(20 * time.Second); !there(); {
		select {
		case <-poll.C:
		case <-late:
			t.Fatal(otherwise())
		}
	}
}

func awaitLeaves(t *testing.T, hub *engine.NATS, want int) {
	t.Helper()
	await(t, func() bool { return len(hub.Leaves()) == want }, func() string { return fmt.Sprintf("the leaves are %v, want %d", hub.Leaves(), want) })
}

// awaitJoined waits until the node knows that it is connected, which is a moment after its
// hub does.
func awaitJoined(t *testing.T, node *engine.NATS) {
	t.Helper()
	await(t, node.Joined, func() string { return "the node does not know that it is connected" })
}

func makeStream(t *testing.T, js jetstream.JetStream, name, subject string) {
	t.Helper()
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{subject}}); err != nil {
		t.Fatal(err)
	}
}

// The hub reads and writes the streams of its leaves. What one of them publishes
// stays with it, and what the hub publishes with the hub.
func TestHubReachesItsLeaves(t *testing.T) {
	hub := openHub(t, t.TempDir(), "127.0.0.1:0")
	makeStream(t, hub.JetStream(), "LOG", "ev.>")
	leaves := map[string]*engine.NATS{"a1": nil, "b2": nil}
	for id := range leaves {
		leaves[id] = openLeaf(t, id, t.TempDir(), hub.LeavesAddr(), leafPassword)
		makeStream(t, leaves[id].JetStream(), "SPOOL", "spool.>")
		makeStream(t, leaves[id].JetStream(), "LOG", "ev.>")
		if _, err := leaves[id].JetStream().CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "keys"}); err != nil {
			t.Fatal(err)
		}
	}
	awaitLeaves(t, hub, 2)
	if _, err := hub.JetStream().Publish(t.Context(), "ev.0", nil); err != nil {
		t.Fatal(err)
	}
	for id, leaf := range leaves {
		for _, subject := range []string{"spool.ev.0", "ev.0", "ev.0"} {
			if _, err := leaf.JetStream().Publish(t.Context(), subject, []byte(id)); err != nil {
				t.Fatal(err)
			}
		}
		if err := leaf.Conn().Flush(); err != nil {
			t.Fatal(err)
		}
	}
	for id, leaf := range leaves {
		js, err := jetstream.NewWithDomain(hub.HubConn(), id)
		if err != nil {
			t.Fatal(err)
		}
		wantOneMessage(t, js, id)
		bucket, err := js.KeyValue(t.Context(), "keys")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bucket.Put(t.Context(), "key.1", []byte(id)); err != nil {
			t.Fatal(err)
		}
		own, err := leaf.JetStream().KeyValue(t.Context(), "keys")
		if err != nil {
			t.Fatal(err)
		}
		if entry, err := own.Get(t.Context(), "key.1"); err != nil || string(entry.Value()) != id {
			t.Errorf("leaf %s has the key %v, error %v", id, entry, err)
		}
	}
	log, err := hub.JetStream().Stream(t.Context(), "LOG")
	if err != nil || log.CachedInfo().State.Msgs != 1 {
		t.Errorf("the hub's log has %+v, error %v, want its own message alone", log.CachedInfo().State, err)
	}
	for id, leaf := range leaves {
		log, err := leaf.JetStream().Stream(t.Context(), "LOG")
		if err != nil || log.CachedInfo().State.Msgs != 2 {
			t.Errorf("the log of leaf %s has %+v, error %v, want its own messages alone", id, log.CachedInfo().State, err)
		}
	}
}

// wantOneMessage reads the spool of a leaf from its hub.
func wantOneMessage(t *testing.T, js jetstream.JetStream, want string) {
	t.Helper()
	// The streams of a leaf can be reached a moment after it has connected.
	spool, err := js.Stream(t.Context(), "SPOOL")
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for late := time.After(20 * time.Second); errors.Is(err, nats.ErrNoResponders); spool, err = js.Stream(t.Context(), "SPOOL") {
		select {
		case <-poll.C:
		case <-late:
			t.Fatal(err)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if n := spool.CachedInfo().State.Msgs; n != 1 {
		t.Errorf("the spool of %s has %d messages, want 1", want, n)
	}
	consumer, err := spool.CreateConsumer(t.Context(), jetstream.ConsumerConfig{AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		t.Fatal(err)
	}
	msg, err := consumer.Next(jetstream.FetchMaxWait(5 * time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if string(msg.Data()) != want {
		t.Errorf("the spool of %s has the message of %s", want, msg.Data())
	}
	if err := msg.DoubleAck(t.Context()); err != nil {
		t.Error(err)
	}
}

// A leaf takes messages while its hub is away, and finds it when it is back.
func TestLeafOutlivesItsHub(t *testing.T) {
	dir := t.TempDir()
	hub := openHub(t, dir, "127.0.0.1:0")
	addr := hub.LeavesAddr()
	leaf := openLeaf(t, "a1", t.TempDir(), addr, leafPassword)
	awaitLeaves(t, hub, 1)
	if err := hub.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	makeStream(t, leaf.JetStream(), "SPOOL", "spool.>")
	if _, err := leaf.JetStream().Publish(t.Context(), "spool.ev.0", []byte("a1")); err != nil {
		t.Fatal(err)
	}
	again := openHub(t, dir, addr)
	awaitLeaves(t, again, 1)
	js, err := jetstream.NewWithDomain(again.HubConn(), "a1")
	if err != nil {
		t.Fatal(err)
	}
	wantOneMessage(t, js, "a1")
	awaitJoined(t, leaf)
}

func TestStrangeLeavesAreRefused(t *testing.T) {
	hub := openHub(t, t.TempDir(), "127.0.0.1:0")
	leaf := openLeaf(t, "a1", t.TempDir(), hub.LeavesAddr(), "a guess")
	openLeaf(t, "b2", t.TempDir(), hub.LeavesAddr(), leafPassword)
	awaitLeaves(t, hub, 1)
	if ids := hub.Leaves(); ids[0] != "b2" || leaf.Joined() {
		t.Errorf("the leaves are %v", ids)
	}
	for _, c := range []engine.NATSConfig{
		{Hub: engine.NATSHub{URL: "nats://127.0.0.1:1", ID: "a"}},
		{Hub: engine.NATSHub{URL: "nats://u:p@127.0.0.1:1", ID: "A"}},
		{Leaves: engine.NATSLeaves{Addr: "127.0.0.1:0"}},
		{Leaves: engine.NATSLeaves{Addr: "x", Password: "p"}},
	} {
		c.StoreDir, c.MaxStore, c.Logger = t.TempDir(), 64<<20, quiet
		if n, err := engine.StartNATS(t.Context(), c); err == nil {
			_ = n.Stop(t.Context())
			t.Errorf("%+v is taken", c)
		}
	}
}

// An attacker on an ingest node publishes messages with any subject for the answer.
// Nothing reaches the account of the service on the hub, where acknowledgements and
// answers of its streams go.
func TestLeavesStayInTheirAccount(t *testing.T) {
	hub := openHub(t, t.TempDir(), "127.0.0.1:0")
	leaf := openLeaf(t, "a1", t.TempDir(), hub.LeavesAddr(), leafPassword)
	awaitLeaves(t, hub, 1)
	own, err := hub.Conn().SubscribeSync(">")
	if err != nil {
		t.Fatal(err)
	}
	reached, err := hub.HubConn().SubscribeSync("_ERRATA.>")
	if err != nil {
		t.Fatal(err)
	}
	told, err := leaf.Conn().SubscribeSync("$JS.ACK.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(hub.Conn().Flush(), hub.HubConn().Flush(), leaf.Conn().Flush()); err != nil {
		t.Fatal(err)
	}
	// The node knows the subscriptions of the hub a moment later.
	for say := time.NewTicker(20 * time.Millisecond); ; {
		if err := leaf.Conn().PublishRequest("_ERRATA.x", "set.logging", []byte("{}")); err != nil {
			t.Fatal(err)
		}
		if n, _, _ := reached.Pending(); n > 0 {
			say.Stop()
			break
		}
		select {
		case <-say.C:
		case <-t.Context().Done():
			t.Fatal("nothing came")
		}
	}
	if err := hub.Conn().Publish("$JS.ACK.ERRORS.x.1.1.1.1.0", []byte("+ACK")); err != nil {
		t.Fatal(err)
	}
	if err := hub.HubConn().Publish("$JS.ACK.SPOOL.x.1.1.1.1.0", []byte("+ACK")); err != nil {
		t.Fatal(err)
	}
	msg, err := told.NextMsg(20 * time.Second)
	if err != nil || msg.Subject != "$JS.ACK.SPOOL.x.1.1.1.1.0" {
		t.Errorf("the node is told %v, error %v, want the acknowledgement of its own queue", msg, err)
	}
	if err := hub.Conn().Flush(); err != nil {
		t.Fatal(err)
	}
	for n, _, _ := own.Pending(); n > 0; n-- {
		if msg, err := own.NextMsg(time.Second); err == nil && msg.Subject != "$JS.ACK.ERRORS.x.1.1.1.1.0" {
			t.Errorf("the node has told the hub %q at %s", msg.Data, msg.Subject)
		}
	}
}
