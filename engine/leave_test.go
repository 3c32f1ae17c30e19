package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/test/product"
)

// leaving takes nodes out in the name of n.
func leaving(n *NATS) Leaving {
	return Leaving{NATS: n, Spool: func(node string) string { return "SPOOL_" + strings.NewReplacer(":", "_", ".", "_").Replace(node) }}
}

// Two of five nodes leave, one that is dead and one that runs. The stream gets other nodes in their
// places, and the three that are left write and read it.
func TestTwoOfFiveLeave(t *testing.T) {
	nodes := startThree(t)
	ctx, cancel := context.WithTimeout(t.Context(), fiveLimit)
	defer cancel()
	makeStream(ctx, t, nodes[0])
	five := addTwo(ctx, t, nodes)
	for _, n := range five {
		useStream(ctx, t, n)
	}
	asked, stay := leaving(five[0]), []*NATS{five[0], five[1], five[4]}
	makeSpool(ctx, t, asked, five[2])
	dead, alive := five[2], five[3] // both have the stream
	if err := dead.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	takeOut(ctx, t, asked, dead.Self())
	answered(ctx, t, five[0], "the spool of the node that left", func(ctx context.Context) error {
		_, err := five[0].JetStream().Stream(ctx, asked.Spool(dead.Self()))
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			return nil
		}
		return fmt.Errorf("it is there, or nobody says: %w", err)
	})
	awaitWhole(ctx, t, five[0], five[1], five[3], five[4])
	takeOut(ctx, t, asked, alive.Self())
	awaitWhole(ctx, t, stay...)
	if err := alive.waitFor(ctx, func(ctx context.Context) error {
		if leaving(alive).Out(ctx) { // not every server hears of it
			return nil
		}
		_, err := alive.JetStream().Stream(ctx, "S")
		return err
	}, func(error) {}); err != nil {
		t.Errorf("the node that runs is not out, and cannot read that it is: %v", err)
	}
	if err := alive.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	for _, n := range stay {
		useStream(ctx, t, n)
	}
	if err := asked.Remove(ctx, alive.Self()); err != nil {
		t.Errorf("a second time: %v", err)
	}
	startAgain(ctx, t, asked, dead.cfg)
	awaitWhole(ctx, t, stay...)
}

// A server closes its streams when its disk is full, and has not left because of that.
func TestAFullDiskIsNoLeave(t *testing.T) {
	nodes := startThree(t)
	ctx, cancel := context.WithTimeout(t.Context(), fiveLimit)
	defer cancel()
	full := nodes[2]
	if err := full.embedded.ShutdownJetStream(); err != nil {
		t.Fatal(err)
	}
	if full.embedded.JetStreamEnabled() {
		t.Fatal("the server has not closed its streams")
	}
	if err := full.waitFor(ctx, func(ctx context.Context) error { // a new leader may have to be found
		_, _, err := leaving(full).Counts(ctx, full.Self())
		return err
	}, func(error) {}); err != nil {
		t.Fatal(err)
	}
	if leaving(full).Out(ctx) {
		t.Error("the node takes itself for one that has left")
	}
}

// takeOut takes a node out, and waits until the servers do not count it.
func takeOut(ctx context.Context, t *testing.T, l Leaving, node string) {
	t.Helper()
	awaitLeave(ctx, t, l, node)
	for { // the node may have led the others, and not have answered
		counts := true
		err := l.Remove(ctx, node)
		if err == nil {
			counts, _, err = l.Counts(ctx, node)
		}
		if !counts && err == nil {
			return
		}
		if !background.Wait(ctx, quorumPause) {
			t.Fatalf("%s counts: %v, %v", node, counts, err)
		}
	}
}

// startAgain starts a node that left with its old folder: it is no member, and reads what says so.
func startAgain(ctx context.Context, t *testing.T, l Leaving, config NATSConfig) {
	t.Helper()
	again, err := StartNATS(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = again.Stop(context.WithoutCancel(t.Context())) })
	answered(ctx, t, again, "what it reads of the others", func(ctx context.Context) error {
		_, err := again.JetStream().Stream(ctx, "S")
		return err
	})
	answered(ctx, t, l.NATS, "whether it counts", func(ctx context.Context) error {
		counts, _, err := l.Counts(ctx, again.Self())
		if counts {
			t.Error("a node that left and started again counts")
		}
		return err
	})
}

// A new node under another address takes the place of one that left.
func TestANewNodeTakesThePlace(t *testing.T) {
	nodes := startThree(t)
	ctx, cancel := context.WithTimeout(t.Context(), fiveLimit)
	defer cancel()
	makeStream(ctx, t, nodes[0])
	asked, gone := leaving(nodes[0]), nodes[2]
	if err := gone.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	takeOut(ctx, t, asked, gone.Self())
	addr, err := product.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	config := gone.cfg
	config.self, config.StoreDir, config.Cluster.Listen = addr, t.TempDir(), addr
	config.Cluster.Peers = []string{nodes[0].Self(), nodes[1].Self(), addr}
	fresh, err := StartNATS(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fresh.Stop(context.WithoutCancel(t.Context())) })
	awaitWhole(ctx, t, nodes[0], nodes[1], fresh)
	useStream(ctx, t, fresh)
}

// A node that left and comes back at once, with an empty folder, says what it waits for. The servers
// do not count a removed name for five minutes, and no test waits so long.
func TestANodeThatComesBackTooEarly(t *testing.T) {
	nodes := startThree(t)
	ctx, cancel := context.WithTimeout(t.Context(), fiveLimit)
	defer cancel()
	makeStream(ctx, t, nodes[0])
	asked, gone := leaving(nodes[0]), nodes[2]
	if err := gone.AwaitCounted(ctx); err != nil {
		t.Errorf("a node of the cluster: %v", err)
	}
	if err := gone.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	takeOut(ctx, t, asked, gone.Self())
	config := gone.cfg
	config.StoreDir = t.TempDir()
	back, err := StartNATS(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = back.Stop(context.WithoutCancel(t.Context())) })
	answered(ctx, t, back, "what it reads of the others", func(ctx context.Context) error {
		_, err := back.JetStream().Stream(ctx, "S")
		return err
	})
	answered(ctx, t, back, "a stream on a node that does not count", func(ctx context.Context) error {
		_, err := back.JetStream().CreateStream(ctx, jetstream.StreamConfig{
			Name: "T", Subjects: []string{"t"}, Placement: &jetstream.Placement{Tags: []string{back.Tag()}},
		})
		if isUnsettled(err) {
			return nil
		}
		return fmt.Errorf("it is made, or nobody says: %w", err)
	})
	waiting, cancel := context.WithTimeout(ctx, quorumAsk)
	defer cancel()
	if err := back.AwaitCounted(waiting); !errors.Is(err, errNotCounted) || !strings.Contains(err.Error(), back.Self()) {
		t.Errorf("it waits for %v", err)
	}
}

// makeSpool makes a stream on the node alone, with a message in it.
func makeSpool(ctx context.Context, t *testing.T, l Leaving, node *NATS) {
	t.Helper()
	if _, err := node.JetStream().CreateStream(ctx, jetstream.StreamConfig{
		Name: l.Spool(node.Self()), Subjects: []string{"spool"}, Placement: &jetstream.Placement{Tags: []string{node.Tag()}},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := node.JetStream().Publish(ctx, "spool", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if waiting, err := l.Waiting(ctx, node.Self()); waiting != 1 || err != nil {
		t.Errorf("%d messages wait, %v; want 1", waiting, err)
	}
	if waiting, err := l.Waiting(ctx, "192.0.2.1:6222"); waiting != 0 || err != nil {
		t.Errorf("on a node without a spool %d messages wait, %v", waiting, err)
	}
}

// awaitLeave waits until the streams do not need the node: after a death their leader is elected.
func awaitLeave(ctx context.Context, t *testing.T, l Leaving, node string) {
	t.Helper()
	for {
		err := l.MayLeave(ctx, node)
		if err == nil {
			return
		}
		if !background.Wait(ctx, quorumPause) {
			t.Fatal(err)
		}
	}
}

// awaitWhole waits until the stream has all its replicas, whole, on some of the nodes.
func awaitWhole(ctx context.Context, t *testing.T, nodes ...*NATS) {
	t.Helper()
	whole := func() (names []string) {
		ctx, cancel := context.WithTimeout(ctx, quorumAsk)
		defer cancel()
		stream, err := nodes[0].JetStream().Stream(ctx, "S")
		if err != nil {
			return nil
		}
		names = append(names, stream.CachedInfo().Cluster.Leader)
		for _, replica := range stream.CachedInfo().Cluster.Replicas {
			if replica.Current && !replica.Offline {
				names = append(names, replica.Name)
			}
		}
		return names
	}
	for {
		names := whole()
		among := !slices.ContainsFunc(names, func(name string) bool {
			return !slices.ContainsFunc(nodes, func(n *NATS) bool { return n.Self() == name })
		})
		if len(names) == copies && among {
			return
		}
		if !background.Wait(ctx, quorumPause) {
			t.Fatalf("the stream is whole on %v", names)
		}
	}
}

// A stream that has no majority without the node keeps it.
func TestAStreamNeedsTheNode(t *testing.T) {
	nodes := startThree(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	l := leaving(nodes[0])
	if _, err := nodes[0].JetStream().CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}, Replicas: copies}); err != nil {
		t.Fatal(err)
	}
	awaitLeave(ctx, t, l, nodes[1].Self())
	if err := nodes[2].Stop(ctx); err != nil {
		t.Fatal(err)
	}
	for {
		err := l.MayLeave(ctx, nodes[1].Self())
		if err != nil && strings.Contains(err.Error(), "of the other nodes of the stream S 1 of 2 have all of it") {
			break
		}
		if !background.Wait(ctx, quorumPause) {
			t.Fatal(err)
		}
	}
	if err := nodes[1].Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if err := l.MayLeave(ctx, nodes[1].Self()); err == nil {
		t.Error("a stream without a leader lets a node leave")
	}
}

// The folder of a node that left starts no node; an empty one begins as a new node.
func TestAFolderOfANodeThatLeft(t *testing.T) {
	dir, err := datadir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	c := threePeers()
	c.Node = "b:6222"
	e := &Engines{cfg: Config{Options: Options{Cluster: c}, Dir: dir}, NATS: &NATS{cfg: NATSConfig{self: c.Node}}}
	for _, step := range []struct {
		note  func() error
		isNew bool
		want  error
	}{
		{nil, true, nil},
		{nil, true, nil}, // it has died before it was a member
		{func() error { return e.NoteMember(false) }, false, nil},
		{func() error { return e.NoteMember(true) }, false, ErrLeft},
	} {
		if step.note != nil {
			if err := step.note(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.claim(t.Context(), dir); !errors.Is(err, step.want) {
			t.Fatalf("got %v, want %v", err, step.want)
		}
		if isNew, err := e.IsNew(); isNew != step.isNew || err != nil {
			t.Errorf("new: %v, %v; want %v", isNew, err, step.isNew)
		}
	}
}
