package engine

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/test/product"
)

// fiveLimit bounds a test in which five servers start, three of them twice.
const fiveLimit = 3 * time.Minute

// Two more nodes join three, which start again one after the other with the longer list of
// peers. Streams stay where they are, and all nodes write and read them.
func TestThreeServersBecomeFive(t *testing.T) {
	nodes := startThree(t)
	ctx, cancel := context.WithTimeout(t.Context(), fiveLimit)
	defer cancel()
	makeStream(ctx, t, nodes[0])
	five := addTwo(ctx, t, nodes)
	for _, n := range five {
		useStream(ctx, t, n)
	}
	if err := five[0].waitFor(ctx, func(context.Context) error { // the leader counts who it has heard of
		leaders, counts := 0, []string(nil)
		for _, n := range five {
			if peers := n.embedded.JetStreamClusterPeers(); len(peers) > 0 { // the leader alone says them
				counts = peers
				leaders++
			}
		}
		if leaders != 1 || len(counts) != len(five) {
			return fmt.Errorf("%d leaders, which count %v", leaders, counts)
		}
		return nil
	}, func(error) {}); err != nil {
		t.Errorf("not one leader that counts five nodes: %v", err)
	}
	for _, n := range five[3:] { // two of five may be away
		if err := n.Stop(ctx); err != nil {
			t.Fatal(err)
		}
	}
	answered(ctx, t, five[0], "a stream with three of five", func(ctx context.Context) error {
		_, err := five[0].JetStream().CreateStream(ctx, jetstream.StreamConfig{Name: "T", Subjects: []string{"t"}, Replicas: copies})
		return err
	})
}

// addTwo starts two new nodes, and the three again one after the other. The new ones are first.
func addTwo(ctx context.Context, t *testing.T, three []*NATS) (five []*NATS) {
	t.Helper()
	peers := slices.Clone(three[0].cfg.Cluster.Peers)
	for range 2 {
		addr, err := product.FreeAddr()
		if err != nil {
			t.Fatal(err)
		}
		peers = append(peers, addr)
	}
	start := func(config NATSConfig) {
		t.Helper()
		config.Cluster.Peers = peers
		n, err := StartNATS(ctx, config)
		if err != nil {
			t.Fatalf("%s: %v", config.self, err)
		}
		t.Cleanup(func() { _ = n.Stop(context.WithoutCancel(t.Context())) })
		five = append(five, n)
	}
	for _, peer := range peers[len(three):] {
		config := three[0].cfg
		config.self, config.StoreDir, config.Cluster.Listen = peer, t.TempDir(), peer
		start(config)
	}
	for _, n := range three {
		if err := n.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		start(n.cfg)
	}
	return five
}

// makeStream makes the stream of three replicas, with one message.
func makeStream(ctx context.Context, t *testing.T, n *NATS) {
	t.Helper()
	answered(ctx, t, n, "make the stream", func(ctx context.Context) error {
		_, err := n.JetStream().CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}, Replicas: copies})
		if err == nil {
			_, err = n.JetStream().Publish(ctx, "s", []byte("of three"))
		}
		return err
	})
}

// useStream writes and reads the stream of three replicas.
func useStream(ctx context.Context, t *testing.T, n *NATS) {
	t.Helper()
	var stream jetstream.Stream
	var msg *jetstream.RawStreamMsg
	answered(ctx, t, n, "use the stream", func(ctx context.Context) (err error) {
		if _, err = n.JetStream().Publish(ctx, "s", []byte("of five")); err != nil {
			return err
		}
		if stream, err = n.JetStream().Stream(ctx, "S"); err == nil {
			msg, err = stream.GetMsg(ctx, 1)
		}
		return err
	})
	if info := stream.CachedInfo(); info.Config.Replicas != copies || len(info.Cluster.Replicas) != copies-1 {
		t.Errorf("%s: %d replicas, %d others", n.Self(), info.Config.Replicas, len(info.Cluster.Replicas))
	}
	if string(msg.Data) != "of three" {
		t.Errorf("%s reads %s", n.Self(), msg.Data)
	}
}
