package engine

import (
	"bytes"
	"context"
	"crypto/tls"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/test/product"
)

const testSecret = "a secret of a test, with 32 characters"

func threePeers() Cluster {
	return Cluster{Name: "demo", Listen: ":6222", Peers: []string{"a:6222", "b:6222", "c:6222"}, Secret: testSecret, Ack: AckSpool}
}

func TestClusterSettings(t *testing.T) {
	if err := (Cluster{}).Validate(); err != nil {
		t.Errorf("no cluster: %v", err)
	}
	if err := threePeers().Validate(); err != nil {
		t.Errorf("a cluster of three: %v", err)
	}
	for want, change := range map[string]func(*Cluster){
		"cluster-name: it is empty": func(c *Cluster) { c.Name = "" },
		"cluster-name: want":        func(c *Cluster) { c.Name = "two words" },
		"cluster-listen":            func(c *Cluster) { c.Listen = "6222" },
		"got 2":                     func(c *Cluster) { c.Peers = c.Peers[:2] },
		"got 4":                     func(c *Cluster) { c.Peers = append(c.Peers, "d:6222") },
		`":6222" is not host:port`:  func(c *Cluster) { c.Peers[1] = ":6222" },
		"a:6222 is named twice":     func(c *Cluster) { c.Peers[1] = "a:6222" },
		"cluster-secret":            func(c *Cluster) { c.Secret = "short" },
		"cluster-ack":               func(c *Cluster) { c.Ack = "one" },
		"cluster-node":              func(c *Cluster) { c.Node = "d:6222" },
	} {
		c := threePeers()
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		} else if strings.Contains(err.Error(), testSecret) {
			t.Errorf("the error shows the secret: %v", err)
		}
	}
}

// A node finds itself in the list that is the same on all nodes.
func TestWhichNodeThisIs(t *testing.T) {
	for _, c := range []struct {
		listen, node string
		peers        []string
		want         string
	}{
		{"127.0.0.1:6222", "", []string{"127.0.0.1:6221", "127.0.0.1:6222", "127.0.0.1:6223"}, "127.0.0.1:6222"},
		{":6222", "", []string{"192.0.2.1:6222", "127.0.0.1:6222", "192.0.2.3:6222"}, "127.0.0.1:6222"},
		{":6222", "", []string{"192.0.2.1:6222", "localhost:6222", "192.0.2.3:6222"}, "localhost:6222"},
		{":6222", "", []string{"192.0.2.1:6222", "127.0.0.1:6223", "192.0.2.3:6222"}, ""},
		{":6222", "", []string{"127.0.0.1:6222", "localhost:6222", "192.0.2.3:6222"}, ""},
		{":6222", "192.0.2.3:6222", []string{"192.0.2.1:6222", "127.0.0.1:6222", "192.0.2.3:6222"}, "192.0.2.3:6222"},
	} {
		self, err := Cluster{Listen: c.listen, Node: c.node, Peers: c.peers}.Self(t.Context())
		if self != c.want || (err == nil) != (c.want != "") {
			t.Errorf("listen %s, peers %v: got %q, %v, want %q", c.listen, c.peers, self, err, c.want)
		}
	}
}

// A folder belongs to one node of one cluster, or to a service of its own.
func TestAFolderStaysWithItsNode(t *testing.T) {
	open := func() *datadir.Dir {
		dir, err := datadir.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = dir.Close() }) // the folder is removed with the test
		return dir
	}
	claim := func(c Cluster, dir *datadir.Dir, node string) error {
		if c.On() {
			c.Node = node
		}
		self, err := c.claim(t.Context(), dir)
		if err == nil && self != node {
			t.Errorf("this node is %q, want %q", self, node)
		}
		return err
	}
	dir, c := open(), threePeers()
	for range 2 { // the second time it is there already
		if err := claim(c, dir, "b:6222"); err != nil {
			t.Fatal(err)
		}
	}
	other := c
	other.Name = "other"
	for what, err := range map[string]error{
		"another node": claim(c, dir, "c:6222"), "another cluster": claim(other, dir, "b:6222"), "no cluster": claim(Cluster{}, dir, ""),
	} {
		if err == nil || !strings.Contains(err.Error(), "node b:6222 of the cluster \"demo\"") {
			t.Errorf("%s took the folder: %v", what, err)
		}
	}
	used := open()
	if err := os.MkdirAll(filepath.Join(used.Join(datadir.NATSDir), "jetstream", ownAccount, "streams", "LOG"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := claim(Cluster{}, used, ""); err != nil {
		t.Errorf("a service of its own: %v", err)
	}
	if err := claim(c, used, "b:6222"); err == nil || !strings.Contains(err.Error(), "service of its own") {
		t.Errorf("a cluster took the folder of a service of its own: %v", err)
	}
}

// Whoever knows the secret gets a route, and nobody else.
func TestRoutesNeedTheSecret(t *testing.T) {
	server, err := routesTLS(testSecret, "a:6222")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", server)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	shaken := make(chan error, 1)
	go func() { // ends with the listener
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			shaken <- conn.(*tls.Conn).Handshake()
			conn.Close()
		}
	}()
	meet := func(client *tls.Config) (own, others error) {
		conn, err := (&tls.Dialer{Config: client}).DialContext(t.Context(), "tcp", listener.Addr().String())
		if err == nil {
			conn.Close()
		}
		return err, <-shaken
	}
	for secret, good := range map[string]bool{testSecret: true, testSecret + "!": false} {
		client, err := routesTLS(secret, "b:6222")
		if err != nil {
			t.Fatal(err)
		}
		if own, others := meet(client); (own == nil && others == nil) != good {
			t.Errorf("secret %q: %v, %v", secret, own, others)
		}
	}
	if _, others := meet(&tls.Config{InsecureSkipVerify: true}); others == nil {
		t.Error("a client without a certificate got a route")
	}
}

// startThree starts the servers of a cluster.
func startThree(t *testing.T) (nodes []*NATS) {
	t.Helper()
	var c Cluster
	c.Name, c.Secret = "demo", testSecret
	for range 3 {
		addr, err := product.FreeAddr()
		if err != nil {
			t.Fatal(err)
		}
		c.Peers = append(c.Peers, addr)
	}
	type started struct {
		nats *NATS
		err  error
	}
	all := make(chan started, len(c.Peers))
	for _, peer := range c.Peers {
		own := c
		own.Listen = peer
		config := NATSConfig{StoreDir: t.TempDir(), MaxStore: 1 << 30, Cluster: own, self: peer}
		go func() {
			n, err := StartNATS(t.Context(), config)
			all <- started{n, err}
		}()
	}
	for range c.Peers {
		one := <-all
		if one.err != nil {
			t.Fatal(one.err)
		}
		nodes = append(nodes, one.nats)
		t.Cleanup(func() {
			if err := one.nats.Stop(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
	return nodes
}

// Three servers with the same settings make one stream on all of them.
func TestThreeServersAreOne(t *testing.T) {
	nodes := startThree(t)
	stream, err := nodes[0].JetStream().CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}, Replicas: nodes[0].cfg.Cluster.Replicas()})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(stream.CachedInfo().Cluster.Replicas); got != 2 {
		t.Errorf("the stream has a leader and %d others, want 2", got)
	}
	for _, n := range nodes {
		if leader, err := n.Leader(t.Context(), "S"); err != nil || leader != stream.CachedInfo().Cluster.Leader {
			t.Errorf("%s says that %q leads, %v; want %q", n.Self(), leader, err, stream.CachedInfo().Cluster.Leader)
		}
	}
}

// A stream of one node takes messages on that node, also while the others are away.
func TestAStreamOfOneNode(t *testing.T) {
	nodes := startThree(t)
	alone := nodes[1]
	stream, err := alone.JetStream().CreateStream(t.Context(), jetstream.StreamConfig{
		Name: "SPOOL", Subjects: []string{"spool"}, Placement: &jetstream.Placement{Tags: []string{alone.Tag()}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if at := stream.CachedInfo().Cluster.Leader; at != alone.Self() {
		t.Fatalf("the stream is on %s, want %s", at, alone.Self())
	}
	for _, other := range []*NATS{nodes[0], nodes[2]} {
		if err := other.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for want := uint64(1); want <= 10; want++ {
		if ack, err := alone.JetStream().Publish(t.Context(), "spool", []byte("x")); err != nil || ack.Sequence != want {
			t.Fatalf("message %d: %+v, %v", want, ack, err)
		}
	}
}

// A node on which a file of a stream is damaged gets the whole stream again from the others.
func TestADamagedReplicaComesBackWhole(t *testing.T) {
	nodes := startThree(t)
	js := nodes[0].JetStream()
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}, Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	const messages = 50
	publish := func() {
		t.Helper()
		for range messages {
			if _, err := js.Publish(t.Context(), "s", bytes.Repeat([]byte("message "), 20)); err != nil {
				t.Fatal(err)
			}
		}
	}
	publish()
	leader, err := nodes[0].Leader(t.Context(), "S")
	if err != nil {
		t.Fatal(err)
	}
	hit := slices.IndexFunc(nodes, func(n *NATS) bool { return n != nodes[0] && n.Self() != leader })
	config := nodes[hit].cfg
	if err := nodes[hit].Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	block := filepath.Join(config.StoreDir, "jetstream", ownAccount, "streams", "S", "msgs", "1.blk")
	damageMessage(t, block, messages)
	publish()

	again, err := StartNATS(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := again.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	if len(again.MendedFiles()) == 0 || len(again.Damaged()) > 0 {
		t.Errorf("mended %q, lost %v: want that it tells, and nothing lost", again.MendedFiles(), again.Damaged())
	}
	awaitReplica(t, again, "S", 2*messages)
}

// awaitReplica waits until the node itself has so many messages of the stream.
func awaitReplica(t *testing.T, n *NATS, stream string, messages uint64) {
	t.Helper()
	for {
		here, err := n.embedded.Jsz(&server.JSzOptions{Account: ownAccount, Streams: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, account := range here.AccountDetails {
			for _, s := range account.Streams {
				if s.Name == stream && s.State.Msgs == messages {
					return
				}
			}
		}
		if !background.Wait(t.Context(), 20*time.Millisecond) {
			t.Fatal(t.Context().Err())
		}
	}
}

// damageMessage changes the length of a message in a file of so many messages of one size.
func damageMessage(t *testing.T, path string, messages int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/messages*(messages/2)] ^= 1
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	// As behind a stop that was not clean: the file system keeps times in steps of some
	// milliseconds, and the index of the stop may be as young.
	if later := time.Now().Add(time.Second); os.Chtimes(path, later, later) != nil {
		t.Fatal("the time of the file cannot be set")
	}
}
