package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/internal/made"
	"github.com/errata-log/errata/test/product"
)

// foundedTest is a stream that a founded cluster has.
const foundedTest = "KV_cluster"

// grown is a cluster to be, whose founder has the folder of a service of its own.
type grown struct {
	t      *testing.T
	config Cluster
	dir    *datadir.Dir
	before map[string]*jetstream.StreamInfo
	others []*NATS
}

// newGrown makes a service of its own with a log of which the beginning is purged, a bucket
// and an empty stream.
func newGrown(t *testing.T) *grown {
	t.Helper()
	dir, err := datadir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() }) // the folder is removed with the test
	g := &grown{t: t, dir: dir, before: map[string]*jetstream.StreamInfo{}, config: Cluster{Name: "demo", Secret: testSecret, Ack: AckSpool}}
	for range copies {
		addr, err := product.FreeAddr()
		if err != nil {
			t.Fatal(err)
		}
		g.config.Peers = append(g.config.Peers, addr)
	}
	g.config.Listen = g.config.Peers[0]
	n, err := StartNATS(t.Context(), NATSConfig{StoreDir: dir.Join(datadir.NATSDir), MaxStore: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	g.fill(n)
	list := n.JetStream().ListStreams(t.Context())
	for info := range list.Info() {
		g.before[info.Config.Name] = info
	}
	if err := errors.Join(list.Err(), n.Stop(t.Context())); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *grown) fill(n *NATS) {
	g.t.Helper()
	ctx, js := g.t.Context(), n.JetStream()
	log, err := js.CreateStream(ctx, jetstream.StreamConfig{
		Name: "LOG", Subjects: []string{"ev.>"}, DenyDelete: true, AllowDirect: true, Discard: jetstream.DiscardNew, MaxBytes: 64 << 20,
		Metadata: map[string]string{"format": "1"},
	})
	if err != nil {
		g.t.Fatal(err)
	}
	for i := range 300 {
		if _, err := js.Publish(ctx, "ev.0", fmt.Appendf(nil, "fact %d %s", i+1, strings.Repeat("x", 10_000))); err != nil {
			g.t.Fatal(err)
		}
	}
	_, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: "ERRORS", Subjects: []string{"errors.>"}, Retention: jetstream.WorkQueuePolicy})
	keys, made := js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "keys", History: 5})
	if err := errors.Join(err, made, log.Purge(ctx, jetstream.WithPurgeSequence(51))); err != nil {
		g.t.Fatal(err)
	}
	for _, value := range []string{"old", "new"} {
		if _, err := keys.PutString(ctx, "k1", value); err != nil {
			g.t.Fatal(err)
		}
	}
}

// startOthers starts the other nodes, which wait for a majority. It returns when they run.
func (g *grown) startOthers() (started func()) {
	g.t.Helper()
	errs := make(chan error, len(g.config.Peers))
	nodes := make(chan *NATS, len(g.config.Peers))
	for _, peer := range g.config.Peers[1:] {
		config := g.config
		config.Listen = peer
		natsConfig := NATSConfig{StoreDir: g.t.TempDir(), MaxStore: 1 << 30, Cluster: config, self: peer, Logger: slog.New(slog.DiscardHandler)}
		go func() {
			n, err := StartNATS(g.t.Context(), natsConfig)
			nodes <- n
			errs <- err
		}()
	}
	return func() {
		g.t.Helper()
		for range g.config.Peers[1:] {
			if err := <-errs; err != nil {
				g.t.Fatal(err)
			}
			n := <-nodes
			g.others = append(g.others, n)
			g.t.Cleanup(func() { _ = n.Stop(context.WithoutCancel(g.t.Context())) })
		}
	}
}

func (g *grown) growth(moved func(stream string)) Growth {
	return Growth{
		Config:  Config{Options: Options{Cluster: g.config, LogMaxBytes: 64 << 20}, Dir: g.dir, Logger: slog.New(slog.DiscardHandler)},
		Founded: foundedTest,
		Moved:   func(stream string, _ uint64, _ int) { moved(stream) },
	}
}

// check compares the streams of a node with what they were.
func (g *grown) check(n *NATS) {
	g.t.Helper()
	for name, before := range g.before {
		stream := g.stream(n, name)
		now := stream.CachedInfo()
		a, b := before.State, now.State
		if max(a.FirstSeq, 1) != max(b.FirstSeq, 1) || a.LastSeq != b.LastSeq || a.Msgs != b.Msgs || now.Config.Replicas != copies {
			g.t.Errorf("%s has %d to %d, %d messages, %d replicas; before %d to %d, %d", name, b.FirstSeq, b.LastSeq, b.Msgs, now.Config.Replicas, a.FirstSeq, a.LastSeq, a.Msgs)
		}
		if at := made.At(now.Created, now.Config.Metadata); name == "LOG" && (!at.Equal(before.Created) || now.Config.Metadata["format"] != "1") {
			g.t.Errorf("the log was made at %v, want %v; metadata %v", at, before.Created, now.Config.Metadata)
		}
	}
	log := g.stream(n, "LOG")
	for _, sequence := range []uint64{51, 300} {
		var msg *jetstream.RawStreamMsg
		g.await(n, fmt.Sprintf("fact %d", sequence), func(ctx context.Context) (err error) {
			msg, err = log.GetMsg(ctx, sequence)
			return err
		})
		if !strings.HasPrefix(string(msg.Data), fmt.Sprintf("fact %d ", sequence)) {
			g.t.Errorf("fact %d: %.20s", sequence, msg.Data)
		}
	}
	var entry jetstream.KeyValueEntry
	g.await(n, "the key", func(ctx context.Context) error {
		keys, err := n.JetStream().KeyValue(ctx, "keys")
		if err == nil {
			entry, err = keys.Get(ctx, "k1")
		}
		return err
	})
	if string(entry.Value()) != "new" || entry.Revision() != 2 {
		g.t.Errorf("the key: %s, revision %d", entry.Value(), entry.Revision())
	}
}

// stream waits for the leader of the stream.
func (g *grown) stream(n *NATS, name string) (stream jetstream.Stream) {
	g.t.Helper()
	g.await(n, name, func(ctx context.Context) (err error) {
		stream, err = n.JetStream().Stream(ctx, name)
		return err
	})
	return stream
}

// await asks until it is answered: a node that has just started hears of the leader of a
// stream before a replica answers reads.
func (g *grown) await(n *NATS, what string, ask func(context.Context) error) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), leaderPatience)
	defer cancel()
	answered(ctx, g.t, n, what, ask)
}

// answered asks until there is no error.
func answered(ctx context.Context, t *testing.T, n *NATS, what string, ask func(context.Context) error) {
	t.Helper()
	if err := n.waitFor(ctx, ask, func(error) {}); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func (g *grown) isAside() bool {
	_, err := os.Stat(g.dir.Join(datadir.AloneDir))
	return err == nil
}

// A service of its own becomes the founder of a cluster, with its streams; also when it is
// broken off after each of them.
func TestOneServerBecomesThree(t *testing.T) {
	g := newGrown(t)
	started := g.startOthers()
	moved := map[string]int{}
	for tries := 1; ; tries++ {
		ctx, cancel := context.WithCancel(t.Context())
		err := g.growth(func(stream string) {
			if moved[stream]++; moved[stream] == 1 {
				cancel()
			}
		}).Run(ctx)
		cancel()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) || tries > len(g.before) {
			t.Fatal(err)
		}
		if _, err := g.config.claim(t.Context(), g.dir); err == nil || !strings.Contains(err.Error(), "errata cluster init") {
			t.Fatalf("a half-grown folder was taken: %v", err)
		}
		if !g.isAside() {
			t.Fatal("the old files are gone")
		}
	}
	started()
	if len(moved) != len(g.before) {
		t.Errorf("moved %v, want %d streams", moved, len(g.before))
	}
	if g.isAside() {
		t.Error("the old files are still there")
	}
	self, err := g.config.claim(t.Context(), g.dir)
	if err != nil {
		t.Fatal(err)
	}
	n, err := StartNATS(t.Context(), NATSConfig{StoreDir: g.dir.Join(datadir.NATSDir), MaxStore: 1 << 30, Cluster: g.config, self: self, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	for _, node := range append(g.others, n) {
		g.check(node)
	}
	awaitReplica(t, n, "LOG", 250)
	for _, other := range g.others {
		awaitReplica(t, other, "LOG", 250)
	}
}

// A node whose death left a stream without a leader does not stop the next try.
func TestAHalfMadeStreamIsMadeAgain(t *testing.T) {
	g := newGrown(t)
	started := g.startOthers()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	growth := g.growth(func(string) {})
	if err := putAside(g.dir, membership{Name: g.config.Name, Node: g.config.Peers[0], Growing: true}); err != nil {
		t.Fatal(err)
	}
	node := growth.Config.nats()
	node.self = g.config.Peers[0]
	n, err := StartNATS(ctx, node)
	if err != nil {
		t.Fatal(err)
	}
	started()
	// Another stream of the name, with other messages.
	if _, err := n.JetStream().CreateStream(ctx, jetstream.StreamConfig{Name: "LOG", Subjects: []string{"ev.>"}, Replicas: copies}); err != nil {
		t.Fatal(err)
	}
	if err := n.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if err := growth.Run(ctx); err != nil {
		t.Fatal(err)
	}
	for _, other := range g.others {
		g.check(other)
	}
}

// A cluster that has a log takes no other one, and the folder stays what it was.
func TestAFoundedClusterTakesNoOtherLog(t *testing.T) {
	g := newGrown(t)
	started := g.startOthers()
	other := g.growth(func(string) {})
	other.Config.Cluster.Node = g.config.Peers[1]
	if err := other.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "must be the first of cluster-peers") {
		t.Errorf("a node that is not the first: %v", err)
	}
	founder := g.growth(func(string) {}).Config.nats()
	founder.self, founder.StoreDir = g.config.Peers[0], t.TempDir()
	n, err := StartNATS(t.Context(), founder)
	if err != nil {
		t.Fatal(err)
	}
	started()
	if _, err := n.JetStream().CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "cluster", Replicas: copies}); err != nil {
		t.Fatal(err)
	}
	if err := n.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := g.growth(func(string) {}).Run(t.Context()); !errors.Is(err, errFounded) {
		t.Errorf("got %v, want %v", err, errFounded)
	}
	if _, err := (Cluster{}).claim(t.Context(), g.dir); err != nil {
		t.Errorf("the folder is no longer that of a service of its own: %v", err)
	}
	if has, err := hasStreams(g.dir); !has || err != nil || g.isAside() {
		t.Errorf("the old files are not where they were: %v", err)
	}
}

// Only a folder with a log of its own grows.
func TestAnEmptyFolderHasNothingToBring(t *testing.T) {
	dir, err := datadir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	c := threePeers()
	c.Node = "a:6222"
	g := Growth{Config: Config{Options: Options{Cluster: c}, Dir: dir, Logger: slog.New(slog.DiscardHandler)}}
	if err := g.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "no log to bring along") {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := c.claim(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if err := g.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a folder of the cluster: %v", err)
	}
}
