package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/datadir"
)

// startServer starts an external NATS server.
func startServer(t *testing.T) (url string, js jetstream.JetStream) {
	t.Helper()
	srv, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	if !srv.ReadyForConnections(startTimeout) {
		t.Fatal("the server did not start")
	}
	conn, err := nats.Connect(srv.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	if js, err = jetstream.New(conn); err != nil {
		t.Fatal(err)
	}
	return srv.ClientURL(), js
}

// TestForeignMessagesEndNothing: somebody with a password of NATS puts messages into
// the streams of the service, while it runs and while it is stopped. Events are still
// counted, keys work, settings can be read and changed, and changes have their entries.
// The service counts the foreign messages and tells of them.
//
// long: the life of one service.
func TestForeignMessagesEndNothing(t *testing.T) {
	o := testOptions(t)
	var js jetstream.JetStream
	o.NATSURL, js = startServer(t)
	a := build(t, o)
	stop := run(t, a)
	keys := keyFiles(t, o.Data)
	admin, ingest := keys[datadir.AdminKeyFile], keys[datadir.IngestKeyFile]
	token, err := access.ParseToken(admin)
	if err != nil {
		t.Fatal(err)
	}
	poison := func() {
		t.Helper()
		for _, subject := range []string{
			"ev.0", "ev.from.nats", "cmd.delete", "cmd.cleanup", "cmd.status", "cmd.snapshot", "cmd.unknown", "set.logging", "set.unknown",
			"set.security.two_factor", "sig.outcome", "sig.evaluate", "tick.minute", "note.alert-failed.x", "audit", "exchanges.modules", "exchanges.queries", "errors.v1.system", "errors.dead.x",
			"$KV.keys.key." + token.ID, "$KV.keys.project.1", "$KV.keys.used." + token.ID, "$KV.familiar.position", "$KV.imports.source.nats",
		} {
			if _, err := js.Publish(t.Context(), subject, []byte(`{"stream":"ERRORS","seq":1}`)); err != nil {
				t.Fatalf("%s: %v", subject, err)
			}
		}
	}
	settings := func(a *app.App) string { return a.Welcome().URL + "/api/v1/admin/tools/logs/settings" }
	works := func(a *app.App, n int) {
		t.Helper()
		url := a.Welcome().URL
		const event = `{"id":"%d","message":"order failed","exception_class":"OrderError"}`
		if status, body := request(t, http.MethodPost, url+"/api/v1/events", ingest, fmt.Sprintf(event, 2*n)); status != http.StatusAccepted {
			t.Fatalf("an event: %d %s", status, body)
		}
		if _, err := js.Publish(t.Context(), "errors.v1.system", fmt.Appendf(nil, event, 2*n+1)); err != nil {
			t.Fatal(err)
		}
		awaitRecords(t, a, func(rows []row) bool { return len(rows) == 1 && rows[0].Count == uint64(2*n+2) })
		if status, body := get(t, settings(a), admin); status != http.StatusOK || n > 0 && !strings.Contains(body, `"development":true`) {
			t.Errorf("settings: %d %s", status, body)
		}
		if status, body := request(t, http.MethodPut, settings(a), admin, fmt.Sprintf(`{"development":1,"error_debug":%d}`, n%2)); status != http.StatusOK {
			t.Errorf("change a setting: %d %s", status, body)
		}
		for late := time.After(startTimeout); ; {
			status, body := get(t, url+"/api/v1/admin/audit/verify", admin)
			if status == http.StatusOK && strings.Contains(body, `"ok":true`) && strings.Contains(body, fmt.Sprintf(`"foreign":%d,`, n)) {
				break
			}
			select {
			case <-late:
				t.Fatalf("audit: %d %s", status, body)
			case <-time.After(50 * time.Millisecond): // asked again
			}
		}
	}
	works(a, 0)
	poison()
	works(a, 1)
	awaitMetric(t, a, `errata_unreadable_facts_total{stream="keys"} 1`)
	awaitMetric(t, a, `errata_unreadable_facts_total{stream="audit"} 1`)
	awaitMetric(t, a, `errata_unreadable_facts_total{stream="exchanges"} 2`)
	if said := opsStatus(t, a); !strings.Contains(said, "left out since this start") {
		t.Errorf("status: %s", said)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	poison()
	a = build(t, o)
	run(t, a)
	works(a, 2)
}
