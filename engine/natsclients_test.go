package engine_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/engine"
)

const (
	appPassword = "an app's password"
	appSubject  = "errors.v1.system"
)

// openNATS is an embedded NATS that is open to applications, with a stream for them.
func openNATS(t *testing.T) *engine.NATS {
	t.Helper()
	n, err := engine.StartNATS(t.Context(), engine.NATSConfig{
		StoreDir: t.TempDir(), MaxStore: 64 << 20, Logger: quiet,
		Clients: engine.NATSClients{Addr: "127.0.0.1:0", Password: appPassword, Publish: []string{"errors.v1.>"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Stop(context.WithoutCancel(t.Context())) })
	for name, subjects := range map[string]string{"ERRORS": "errors.v1.>", "LOG": "ev.>"} {
		if _, err := n.JetStream().CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{subjects}}); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// dialApp connects as an application. The channel gives the refusals.
func dialApp(t *testing.T, n *engine.NATS) (*nats.Conn, <-chan error) {
	t.Helper()
	refused := make(chan error, 16)
	conn, err := nats.Connect(n.ClientsAddr().String(), nats.UserInfo(engine.ClientUser, appPassword), nats.CustomInboxPrefix(engine.ClientInbox),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn, refused
}

// An application publishes events and gets confirmations. It can do nothing else, and
// does not receive the answers of others.
func TestApplicationsMayOnlyPublishEvents(t *testing.T) {
	n := openNATS(t)
	conn, refused := dialApp(t, n)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	ack, err := js.Publish(t.Context(), appSubject, []byte("{}"))
	if err != nil || ack.Stream != "ERRORS" || ack.Sequence != 1 {
		t.Fatalf("an event: %+v, error %v", ack, err)
	}
	for _, subject := range []string{"ev.0", "cmd.delete", "set.logging", "errors.dead.x", "$JS.API.STREAM.LIST", "$JS.API.STREAM.PURGE.LOG", "$JS.ACK.ERRORS.x.1.1.1.1.0", "$KV.keys.a", "_ERRATA.x", "_INBOX.x"} {
		if err := conn.Publish(subject, nil); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, refused, subject)
	}
	for _, subject := range []string{">", "ev.>", "_ERRATA.>", "$JS.>", "$KV.>", "errors.v1.>", "errors.dead.>", "_INBOX.>", "_INBOX_*.>"} {
		if _, err := conn.SubscribeSync(subject); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, refused, subject)
	}
	// Only the service receives its answers.
	spy, err := conn.SubscribeSync(engine.ClientInbox + ".>")
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := n.JetStream().Stream(t.Context(), "LOG"); err != nil {
		t.Fatal(err)
	}
	if _, err := n.JetStream().Publish(t.Context(), "ev.0", []byte("secret")); err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	if count, _, _ := spy.Pending(); count != 0 {
		t.Errorf("an application heard %d messages that were for the service", count)
	}
	stream, err := n.JetStream().Stream(t.Context(), "LOG")
	if err != nil || stream.CachedInfo().State.Msgs != 1 {
		t.Errorf("the log has %+v, error %v, want the one message of the service", stream.CachedInfo().State, err)
	}
}

func wantRefused(t *testing.T, refused <-chan error, subject string) {
	t.Helper()
	select {
	case err := <-refused:
		if !strings.Contains(strings.ToLower(err.Error()), "permissions violation") || !strings.Contains(err.Error(), subject) {
			t.Errorf("%s: %v, want a refusal", subject, err)
		}
	case <-time.After(5 * time.Second):
		t.Errorf("%s is not refused", subject)
	}
}

func TestStrangersAreRefused(t *testing.T) {
	n := openNATS(t)
	for name, options := range map[string][]nats.Option{
		"nobody":       nil,
		"wrong":        {nats.UserInfo(engine.ClientUser, "guess")},
		"the service":  {nats.UserInfo("errata", "")},
		"its password": {nats.UserInfo("errata", appPassword)},
	} {
		conn, err := nats.Connect(n.ClientsAddr().String(), options...)
		if !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("%s: %v, want a refusal", name, err)
		}
		if conn != nil {
			conn.Close()
		}
	}
}

// After a restart applications find the server at the same address.
func TestClientsAddrOutlivesARestart(t *testing.T) {
	n := openNATS(t)
	before := n.ClientsAddr().String()
	if err := n.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := n.ClientsAddr().String(); after != before {
		t.Errorf("after a restart the address is %s, before it was %s", after, before)
	}
	conn, _ := dialApp(t, n)
	if err := conn.Flush(); err != nil {
		t.Error(err)
	}
}

func TestClientsConfigIsChecked(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for addr, want := range map[string]string{
		"nowhere": "host:port", "127.0.0.1:x": "port", "127.0.0.1:70000": "port", taken.Addr().String(): "something else has the port of",
	} {
		n, err := engine.StartNATS(t.Context(), engine.NATSConfig{
			StoreDir: t.TempDir(), MaxStore: 64 << 20, Logger: quiet,
			Clients: engine.NATSClients{Addr: addr, Password: "x", Publish: []string{"a"}},
		})
		if err == nil {
			_ = n.Stop(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error about %q", addr, err, want)
		}
	}
	cfg := engine.Config{Options: engine.Options{NATSURL: "nats://127.0.0.1:1", ClickHouseDSN: "clickhouse://127.0.0.1:1/x", NATSListen: "127.0.0.1:0"}}
	if _, err := engine.Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "publish there") {
		t.Errorf("both: %v", err)
	}
}
