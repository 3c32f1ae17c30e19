package migrations_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/test/testenv"
)

// startCluster runs three servers and returns when they can make streams.
func startCluster(t *testing.T) jetstream.JetStream {
	t.Helper()
	servers := startServers(t)
	for range 3 {
		if servers == nil {
			servers = startServers(t)
		}
	}
	if servers == nil {
		t.Fatal("three servers did not start, with four choices of ports")
	}
	awaitLeader(t, servers)
	return testenv.DialJetStream(t, servers[0].ClientURL())
}

// startServers runs three servers that know each other's ports. It returns nil when
// one of them does not listen: another process can take a port after it was chosen.
func startServers(t *testing.T) []*server.Server {
	t.Helper()
	var servers []*server.Server
	routes := freePorts(t, 3)
	for i, route := range routes {
		port, err := strconv.Atoi(route.Port())
		if err != nil {
			t.Fatal(err)
		}
		srv, err := server.NewServer(&server.Options{
			ServerName: fmt.Sprint("n", i), Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
			JetStream: true, StoreDir: t.TempDir(), Cluster: server.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: port}, Routes: routes,
		})
		if err != nil {
			t.Fatal(err)
		}
		srv.Start()
		t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
		if !srv.ReadyForConnections(15 * time.Second) {
			return nil
		}
		servers = append(servers, srv)
	}
	return servers
}

// freePorts returns the addresses of n ports on which nobody listens.
func freePorts(t *testing.T, n int) []*url.URL {
	t.Helper()
	var found []*url.URL
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		found = append(found, &url.URL{Scheme: "nats", Host: l.Addr().String()})
	}
	return found
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
