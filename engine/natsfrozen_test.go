package engine_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/test/testenv"
)

// frozenLimit bounds the time until the client leaves a frozen server.
const frozenLimit = 5 * time.Second

// A frozen server keeps its connections open and does not answer. The service notices
// it and connects to the other server.
func TestAFrozenServerIsGivenUp(t *testing.T) {
	proxies, list := map[string]*testenv.FreezingProxy{}, []string{}
	for _, name := range []string{"one", "two"} {
		srv := serve(t, &server.Options{
			ServerName: name, Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
		})
		u, err := url.Parse(srv.ClientURL())
		if err != nil {
			t.Fatal(err)
		}
		proxies[name] = testenv.NewFreezingProxy(t, u.Host)
		list = append(list, "nats://"+proxies[name].Addr)
	}
	n, err := engine.StartNATS(t.Context(), engine.NATSConfig{URL: strings.Join(list, ","), Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	stopAfter(t, n)
	first := n.Conn().ConnectedServerName()
	connected := n.Conn().StatusChanged(nats.CONNECTED)
	defer n.Conn().RemoveStatusListener(connected)
	proxies[first].Freeze()
	began := time.Now()
	select {
	case <-connected:
	case <-time.After(4 * frozenLimit):
		t.Fatalf("%s is frozen, and the service is still attached to it", first)
	}
	t.Logf("after %v", time.Since(began))
	if took := time.Since(began); took > frozenLimit {
		t.Errorf("it took %v, want %v at most", took, frozenLimit)
	}
	if now := n.Conn().ConnectedServerName(); now == first {
		t.Errorf("the service is attached to %s again", now)
	}
	ctx, cancel := context.WithTimeout(t.Context(), frozenLimit)
	defer cancel()
	if _, err := n.JetStream().AccountInfo(ctx); err != nil {
		t.Errorf("the other server does not answer: %v", err)
	}
}

// An ingest node and its hub notice that the other one is frozen. The node looks for no
// other way to its hub than the address that it was given.
func TestAFrozenHubIsGivenUp(t *testing.T) {
	hub := openHub(t, t.TempDir(), "127.0.0.1:0")
	proxy := testenv.NewFreezingProxy(t, hub.LeavesAddr())
	leaf := openLeaf(t, "a1", t.TempDir(), proxy.Addr, leafPassword)
	awaitLeaves(t, hub, 1)
	proxy.Freeze()
	began := time.Now()
	awaitLeaves(t, hub, 0)
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for late := time.After(4 * frozenLimit); leaf.Joined(); {
		select {
		case <-look.C:
		case <-late:
			t.Fatal("the node is still attached to a hub that is frozen")
		}
	}
	if took := time.Since(began); took > frozenLimit {
		t.Errorf("it took %v, want %v at most", took, frozenLimit)
	}
}
