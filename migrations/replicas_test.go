package migrations_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/migrations"
)

// startCluster runs three servers and returns when they can make streams.
func startCluster(t *testing.T) jetstream.JetStream {
	t.Helper()
	var routes []*url.URL
	var ports []int
	for range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
		routes = append(routes, &url.URL{Scheme: "nats", Host: l.Addr().String()})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var servers []*server.Server
	for i, port := range ports {
		srv, err := server.NewServer(&server.Options{
			ServerName: fmt.Sprint("n", i), Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
			JetStream: true, StoreDir: t.TempDir(), Cluster: server.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: port}, Routes: routes,
		})
		if err != nil {
			t.Fatal(err)
		}
		srv.Start()
		t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
		if !srv.ReadyForConnections(time.Minute) {
			t.Fatal("a server did not start")
		}
		servers = append(servers, srv)
	}
	awaitLeader(t, servers)
	conn, err := nats.Connect(servers[0].ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// awaitLeader returns when one of the servers leads and the others follow it. It
// makes no stream to find out: when the machine is busy, nats-server does not close
// the store of a stream that is deleted so soon.
func awaitLeader(t *testing.T, servers []*server.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ask := time.NewTicker(50 * time.Millisecond)
	defer ask.Stop()
	for !inCluster(servers) {
		select {
		case <-ask.C:
		case <-ctx.Done():
			t.Fatal("the servers find no leader")
		}
	}
}

// inCluster says whether the leader knows the room of all servers.
func inCluster(servers []*server.Server) bool {
	for _, srv := range servers {
		if !srv.JetStreamIsCurrent() {
			return false
		}
	}
	return slices.ContainsFunc(servers, func(srv *server.Server) bool { return len(srv.JetStreamClusterPeers()) == len(servers) })
}

// Replicas and the room of a bucket that an operator has raised stay at the next
// start. The setting raises the replicas of all streams.
func TestReplicasAreNeverLowered(t *testing.T) {
	js := startCluster(t)
	start := func(replicas int) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := migrations.Log(ctx, js, migrations.LogConfig{MaxBytes: 16 << 20, Replicas: replicas}); err != nil {
			t.Fatal(err)
		}
	}
	config := func(name string) jetstream.StreamConfig {
		t.Helper()
		s, err := js.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return s.CachedInfo().Config
	}
	start(0)
	raised := map[string]bool{"LOG": true, "AUDIT": true, "ERRORS": true, "KV_keys": true}
	for name := range raised {
		c := config(name)
		c.Replicas = 3
		if name == "KV_keys" {
			c.MaxBytes *= 2
		}
		if _, err := js.UpdateStream(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	room := config("KV_keys").MaxBytes
	for _, replicas := range []int{0, 1} {
		start(replicas)
		for _, name := range migrations.Stores("") {
			if got, want := config(name).Replicas, map[bool]int{true: 3, false: 1}[raised[name]]; got != want {
				t.Errorf("%s has %d replicas, want %d", name, got, want)
			}
		}
		if got := config("KV_keys").MaxBytes; got != room {
			t.Errorf("the bucket of keys has %d bytes, want %d", got, room)
		}
	}
	start(3)
	for _, name := range migrations.Stores("") {
		if got := config(name).Replicas; got != 3 {
			t.Errorf("%s has %d replicas, want 3", name, got)
		}
	}
}
