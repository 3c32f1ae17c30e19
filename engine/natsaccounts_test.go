package engine_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/migrations"
)

// quiet is for tests that do not look at the log.
var quiet = slog.New(slog.DiscardHandler)

// ours are subjects of the service, one of each kind.
var ours = []string{
	"ev.0", "cmd.delete", "set.logging", "set.security.admin", "sig.outcome", "tick.minute", "note.alert-failed.x", "audit", "exchanges.modules", "exchanges.queries",
	"errors.dead.invalid_type", "$KV.keys.key.1", "$KV.keys.project.7", "$KV.imports.a", "$KV.requests.a", "$KV.challenges.a", "$KV.enrolments.a",
	"$KV.familiar.a", "$JS.API.STREAM.PURGE.LOG", "$JS.API.STREAM.DELETE.LOG", "$JS.API.CONSUMER.CREATE.LOG", "$JS.ACK.ERRORS.x.1.1.1.1.0", "_ERRATA.x",
	"progress.0", "_R_.x",
}

// JetStream answers a publisher with rights of its own. Whatever subject an application
// chooses for the answer, nothing reaches the subjects of the service.
func TestNoReplySubjectReachesTheService(t *testing.T) {
	n, err := engine.StartNATS(t.Context(), engine.NATSConfig{
		StoreDir: t.TempDir(), MaxStore: 4 << 30, Logger: quiet,
		Clients: engine.NATSClients{Addr: "127.0.0.1:0", Password: appPassword, Publish: migrations.IntakeSubjects("")},
	})
	if err != nil {
		t.Fatal(err)
	}
	stopAfter(t, n)
	wantNoWayIn(t, n, n.ClientsAddr().String())
}

// The same holds for an external server.
func TestNoReplySubjectReachesTheServiceByTheGivenConfiguration(t *testing.T) {
	addr := serveGivenConfiguration(t, t.TempDir()).ClientURL()
	wantNoWayIn(t, dialService(t, addr), addr)
}

func stopAfter(t *testing.T, n *engine.NATS) {
	t.Helper()
	t.Cleanup(func() { _ = n.Stop(context.WithoutCancel(t.Context())) })
}

// serveGivenConfiguration runs a server with deploy/nats.conf and the user for
// applications that it proposes.
func serveGivenConfiguration(t *testing.T, dir string) *server.Server {
	t.Helper()
	t.Setenv("ERRATA_NATS_PASSWORD", servicePassword)
	t.Setenv("ERRATA_APP_PASSWORD", `"`+appPassword+`"`)
	text, err := os.ReadFile("../deploy/nats.conf")
	if err != nil {
		t.Fatal(err)
	}
	proposed := bytes.Replace(text, []byte("# { user: errata_app"), []byte("{ user: errata_app"), 1)
	if bytes.Equal(text, proposed) {
		t.Fatal("deploy/nats.conf proposes no user for applications")
	}
	path := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(path, proposed, 0o600); err != nil {
		t.Fatal(err)
	}
	options, err := server.ProcessConfigFile(path)
	if err != nil {
		t.Fatal(err)
	}
	options.Host, options.Port, options.HTTPPort, options.StoreDir, options.NoSigs, options.NoLog = "127.0.0.1", server.RANDOM_PORT, 0, dir, true, true
	return serve(t, options)
}

func serve(t *testing.T, options *server.Options) *server.Server {
	t.Helper()
	srv, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	if !srv.ReadyForConnections(30 * time.Second) {
		t.Fatal("the server did not start")
	}
	return srv
}

const servicePassword = "the-service"

// dialService connects to an external server as the service does.
func dialService(t *testing.T, addr string) *engine.NATS {
	t.Helper()
	u, err := url.Parse(addr)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("errata", servicePassword)
	n, err := engine.StartNATS(t.Context(), engine.NATSConfig{URL: u.String(), Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	stopAfter(t, n)
	return n
}

func wantNoWayIn(t *testing.T, n *engine.NATS, addr string) {
	t.Helper()
	if err := migrations.Log(t.Context(), n.JetStream(), migrations.LogConfig{MaxBytes: 64 << 20}); err != nil {
		t.Fatal(err)
	}
	before := lastSequences(t, n)
	heard := make(chan *nats.Msg, 16)
	for _, subject := range ours {
		if _, err := n.Conn().ChanSubscribe(subject, heard); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Conn().Flush(); err != nil {
		t.Fatal(err)
	}
	app, err := nats.Connect(addr, nats.UserInfo(engine.ClientUser, appPassword), nats.CustomInboxPrefix(engine.ClientInbox),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // refusals are expected
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close()
	for _, subject := range ours {
		for _, header := range []nats.Header{
			nil,
			{"Nats-Expected-Stream": {"another"}}, // its answer is an error
			{"Nats-Trace-Dest": {subject}},        // the server's report on the way of the message
			{"Nats-Trace-Dest": {subject}, "Accept-Encoding": {"gzip"}},
		} {
			// The NATS client would refuse some of these itself.
			if err := app.PublishMsg(&nats.Msg{Subject: appSubject, Reply: subject, Header: header, Data: []byte(`{"v":1}`)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Answers come in order, so all others came before this one.
	js, err := jetstream.New(app)
	if err != nil {
		t.Fatal(err)
	}
	ack, err := js.Publish(t.Context(), "errors.v1.database", []byte("{}"))
	if err != nil || ack.Stream != "ERRORS" {
		t.Fatalf("an event: %+v, error %v", ack, err)
	}
	// The server itself refuses two of the subjects.
	if tried := uint64(len(ours) - 2); ack.Sequence <= tried {
		t.Fatalf("%d events were taken, want %d at least, or nothing was tried", ack.Sequence, tried)
	}
	if err := n.Conn().Flush(); err != nil {
		t.Fatal(err)
	}
	close(heard)
	for msg := range heard {
		t.Errorf("an application has told the service %q at %s", msg.Data, msg.Subject)
	}
	for name, last := range lastSequences(t, n) {
		if name != migrations.IntakeStream("") && last != before[name] {
			t.Errorf("an application has written into %s: %d, before it was %d", name, last, before[name])
		}
	}
}

func lastSequences(t *testing.T, n *engine.NATS) map[string]uint64 {
	t.Helper()
	last := map[string]uint64{}
	for _, name := range migrations.Stores("") {
		stream, err := n.JetStream().Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		last[name] = stream.CachedInfo().State.LastSeq
	}
	return last
}

// A server with accounts finds the streams of one without accounts.
func TestStreamsOutliveTheirMoveIntoAnAccount(t *testing.T) {
	dir := t.TempDir()
	options := &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true,
		Username: "errata", Password: servicePassword,
	}
	srv := serve(t, options)
	n := dialService(t, srv.ClientURL())
	makeStream(t, n.JetStream(), "LOG", "ev.>")
	if _, err := n.JetStream().Publish(t.Context(), "ev.0", []byte("a")); err != nil {
		t.Fatal(err)
	}
	srv.Shutdown()
	srv.WaitForShutdown()
	// As docs/operations.md says.
	if err := os.Rename(filepath.Join(dir, "jetstream", "$G"), filepath.Join(dir, "jetstream", "ERRATA")); err != nil {
		t.Fatal(err)
	}
	after := dialService(t, serveGivenConfiguration(t, dir).ClientURL())
	stream, err := after.JetStream().Stream(t.Context(), "LOG")
	if err != nil || stream.CachedInfo().State.Msgs != 1 {
		t.Fatalf("the log: %v, error %v", stream, err)
	}
}

// An embedded server that is opened to applications finds its earlier streams.
func TestStreamsOutliveTheOpeningToApplications(t *testing.T) {
	dir := t.TempDir()
	for i, clients := range []engine.NATSClients{{}, {Addr: "127.0.0.1:0", Password: appPassword, Publish: []string{appSubject}}, {}} {
		n, err := engine.StartNATS(t.Context(), engine.NATSConfig{StoreDir: dir, MaxStore: 64 << 20, Logger: quiet, Clients: clients})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			makeStream(t, n.JetStream(), "LOG", "ev.>")
		}
		if _, err := n.JetStream().Publish(t.Context(), "ev.0", nil, jetstream.WithExpectLastSequence(uint64(i))); err != nil {
			t.Errorf("start %d: %v", i, err)
		}
		if err := n.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
