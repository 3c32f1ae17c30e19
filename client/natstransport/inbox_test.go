package natstransport_test

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/client"
	"github.com/errata-log/errata/client/natstransport"
	"github.com/errata-log/errata/test/testenv"
)

// serveUsers runs a server on which each user may publish events and listen for
// the answers under its own name. It returns the URL for a user.
func serveUsers(t *testing.T, names ...string) func(user string) string {
	t.Helper()
	o := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true}
	o.Users = []*server.User{{Username: "service", Password: "p"}}
	for _, name := range names {
		o.Users = append(o.Users, &server.User{Username: name, Password: "p", Permissions: &server.Permissions{
			Publish:   &server.SubjectPermission{Allow: []string{natstransport.DefaultSubject + ".>"}},
			Subscribe: &server.SubjectPermission{Allow: []string{natstransport.Inbox(name) + ".>"}},
		}})
	}
	srv, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	if !srv.ReadyForConnections(never) {
		t.Fatal("the server did not start")
	}
	return func(user string) string {
		u, err := url.Parse(srv.ClientURL())
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword(user, "p")
		return u.String()
	}
}

// For every way to connect, acknowledgements come to a subject where the user may
// listen, and no other user can listen there.
func TestAcknowledgementsComeToTheirUserAlone(t *testing.T) {
	address := serveUsers(t, "shop", "blog-2")
	service, err := nats.Connect(address("service"))
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	js, err := jetstream.New(service)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "ERRORS", Subjects: []string{natstransport.DefaultSubject + ".*"}}); err != nil {
		t.Fatal(err)
	}
	for name, connect := range map[string]func(refused nats.Option) (*nats.Conn, error){
		"by Connect": func(r nats.Option) (*nats.Conn, error) { return natstransport.Connect(address("shop"), r) },
		"by its URL": func(r nats.Option) (*nats.Conn, error) { return nats.Connect(address("shop"), r) },
		"by its options": func(r nats.Option) (*nats.Conn, error) {
			return nats.Connect(hostOf(t, address("")), nats.UserInfo("shop", "p"), r)
		},
		"by servers": func(r nats.Option) (*nats.Conn, error) {
			return nats.Options{Servers: []string{address("shop")}}.Connect()
		},
		"with its prefix": func(r nats.Option) (*nats.Conn, error) {
			return nats.Connect(address("shop"), r, nats.CustomInboxPrefix("_INBOX_shop.a"))
		},
	} {
		refused := make(chan error, 16)
		conn, err := connect(nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
		if err != nil {
			t.Fatal(name, err)
		}
		transport, err := natstransport.New(conn, natstransport.Options{})
		if err != nil {
			t.Fatal(err)
		}
		notTaken, err := transport.Send(t.Context(), []client.Message{{ID: name, Body: []byte("{}")}})
		if err != nil || len(notTaken) > 0 {
			t.Errorf("%s: refused %v, error %v", name, notTaken, err)
		}
		conn.Close()
	}
	wantNoSpy(t, address("blog-2"))
}

// wantNoSpy tries to listen as another user.
func wantNoSpy(t *testing.T, address string) {
	t.Helper()
	spy := make(chan error, 16)
	other, err := natstransport.Connect(address, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { spy <- err }))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, subject := range []string{"_INBOX_shop.>", "_INBOX.>", "*.>", ">"} {
		if _, err := other.SubscribeSync(subject); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-spy:
			if !errors.Is(err, nats.ErrPermissionViolation) || !strings.Contains(err.Error(), `"`+subject+`"`) {
				t.Errorf("%s: %v, want a refusal", subject, err)
			}
		case <-time.After(never):
			t.Errorf("%s is not refused", subject)
		}
	}
}

func hostOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

func TestInbox(t *testing.T) {
	var got []string
	for _, user := range []string{"", "shop", "blog-2_x", "a.b", "a b", "*", ">", "é"} {
		got = append(got, natstransport.Inbox(user))
	}
	if want := []string{"_INBOX", "_INBOX_shop", "_INBOX_blog-2_x", "_INBOX", "_INBOX", "_INBOX", "_INBOX", "_INBOX"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// An answer that is not from JetStream does not mean that the event is on disk. A
// lost connection ends the wait for answers.
func TestOnlyAnAcknowledgementCounts(t *testing.T) {
	address := serveUsers(t)
	conn, err := natstransport.Connect(address("service"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answers := []string{"", "{}", `{"stream":"ERRORS"}`, `{"seq":1}`, "+OK", `{"error":{"code":503,"err_code":10077,"description":"maximum bytes exceeded"}}`}
	sub, err := conn.Subscribe(natstransport.DefaultSubject+".>", func(msg *nats.Msg) {
		if len(answers) == 0 {
			_ = conn.ForceReconnect() // it cannot fail on an open connection
			return
		}
		_ = msg.Respond([]byte(answers[0]))
		answers = answers[1:]
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	transport, err := natstransport.New(conn, natstransport.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, answer := range append(slices.Clone(answers), "none") {
		if refused, err := transport.Send(t.Context(), []client.Message{{ID: "a", Body: []byte("{}")}}); err == nil {
			t.Errorf("answer %q: refused %v, want an error", answer, refused)
		}
	}
}

// The client of a frozen server connects to another one, and sends the events
// again that were not acknowledged.
func TestAFrozenServerIsGivenUp(t *testing.T) {
	proxies := map[string]*testenv.FreezingProxy{}
	var list []string
	streams := map[string]jetstream.JetStream{}
	for range 2 {
		address := serveUsers(t, "shop")
		js := testenv.DialJetStream(t, address("service"))
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "ERRORS", Subjects: []string{natstransport.DefaultSubject + ".*"}}); err != nil {
			t.Fatal(err)
		}
		proxy := testenv.NewFreezingProxy(t, hostOf(t, address("shop")))
		proxies[proxy.Addr], streams[proxy.Addr] = proxy, js
		list = append(list, "nats://shop:p@"+proxy.Addr)
	}
	conn, err := natstransport.Connect(strings.Join(list, ","))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	transport, err := natstransport.New(conn, natstransport.Options{})
	if err != nil {
		t.Fatal(err)
	}
	first := hostOf(t, conn.ConnectedUrl())
	proxies[first].Freeze()
	began := time.Now()
	c := newClient(t, transport, nil)
	id := c.Capture(t.Context(), errors.New("order failed"))
	closeIt(t, c)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the event was acknowledged after %v, want 5s at most", took)
	}
	for addr, js := range streams {
		stream, err := js.Stream(t.Context(), "ERRORS")
		if err != nil {
			t.Fatal(err)
		}
		all := stored(t, stream)
		if addr == first && len(all) > 0 || addr != first && (len(all) != 1 || all[0].Header.Get("Nats-Msg-Id") != id) {
			t.Errorf("%s (frozen: %v) has %d messages", addr, addr == first, len(all))
		}
	}
}
