package app_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/test/certtest"
)

// An ingest node that has never reached its hub tells senders to retry: it does not
// know their keys yet, and senders drop what is refused with 401. It needs no
// ClickHouse.
func TestLeafWithoutKeys(t *testing.T) {
	o := testOptions(t)
	o.NATSLeaf, o.EngineBinary, o.LibCHDB = "nats://errata_leaf:secret@127.0.0.1:1", "/nonexistent", "/nonexistent"
	a := build(t, o)
	run(t, a)
	url := a.Welcome().URL
	const key = "Bearer eik_ing_nobody"
	status, body := request(t, http.MethodPost, url+"/api/v1/events", strings.TrimPrefix(key, "Bearer "), `{"message":"x"}`)
	if status != http.StatusServiceUnavailable || !strings.Contains(body, "hub") || strings.Contains(body, "secret") {
		t.Errorf("an event: %d %s", status, body)
	}
	for path, want := range map[string]int{
		"/healthz": http.StatusOK, "/readyz": http.StatusServiceUnavailable, "/metrics": http.StatusOK,
		"/api/v1/admin/keys": http.StatusNotFound, "/": http.StatusNotFound,
	} {
		if status, body := get(t, url+path, ""); status != want {
			t.Errorf("%s: %d %s, want %d", path, status, body, want)
		}
	}
	if _, body := get(t, url+"/metrics", ""); !strings.Contains(body, "\nerrata_leaf_joined 0\n") {
		t.Error("the metrics do not say that the hub is away")
	}
}

func TestLeafOptions(t *testing.T) {
	const hub = "nats://errata_leaf:hunter2@h:7422"
	for want, change := range map[string]func(*app.Options){
		"nats-leaf: want":                func(o *app.Options) { o.NATSLeaf = "h:1" },
		"nats-leaf: want nats:// or tls": func(o *app.Options) { o.NATSLeaf = "http://u:hunter2@h:1" },
		"nats-url names another":         func(o *app.Options) { o.NATSLeaf, o.NATSURL = hub, "nats://h:1" },
		"clickhouse-listen":              func(o *app.Options) { o.NATSLeaf, o.ClickHouseListen = hub, "127.0.0.1:9000" },
		"clickhouse-dsn":                 func(o *app.Options) { o.NATSLeaf, o.ClickHouseDSN = hub, "clickhouse://h:1/d" },
		"nats-listen: nats-leaf":         func(o *app.Options) { o.NATSLeaf, o.NATSListen = hub, ":1" },
		"nats-leaf-listen: nats-leaf":    func(o *app.Options) { o.NATSLeaf, o.NATSLeafListen = hub, ":1" },
		"nats-leaf-listen: it opens":     func(o *app.Options) { o.NATSURL, o.NATSLeafListen = "nats://h:1", ":1" },
		"nats-tls-cert: nobody":          func(o *app.Options) { o.NATSTLSCert, o.NATSTLSKey = "c", "k" },
		"nats-tls-key: nats-tls-cert":    func(o *app.Options) { o.NATSListen, o.NATSTLSCert = ":1", "c" },
		"nats-tls-client-ca: clients":    func(o *app.Options) { o.NATSListen, o.NATSTLSClientCA = ":1", "c" },
		"nats-tls-cert: nats-leaf":       func(o *app.Options) { o.NATSLeaf, o.NATSTLSCert, o.NATSTLSKey = hub, "c", "k" },
		"nats-tls-client-ca: nats-leaf": func(o *app.Options) {
			o.NATSLeaf, o.NATSTLSCert, o.NATSTLSKey, o.NATSTLSClientCA = "tls://errata_leaf:hunter2@h:7422", "c", "k", "a"
		},
		"clickhouse-tls-cert: nobody": func(o *app.Options) { o.ClickHouseTLSCert, o.ClickHouseTLSKey = "c", "k" },
		"clickhouse-tls-key:":         func(o *app.Options) { o.ClickHouseListen, o.ClickHouseTLSCert = ":1", "c" },
		"nats-leaf-listen: \"1\"":     func(o *app.Options) { o.NATSLeafListen = "1" },
	} {
		o := app.DefaultOptions()
		change(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v, want an error with %q and no password", err, want)
		}
	}
}

// TestNATSOverTLS: the files for applications and ingest nodes say that the hub speaks TLS,
// and both send with a certificate of their own.
func TestNATSOverTLS(t *testing.T) {
	authority, clients := certtest.New(t), certtest.New(t)
	cert, certKey := authority.Issue(t, certtest.Template("localhost")).Write(t)
	mine, mineKey := clients.Issue(t, certtest.Template()).Write(t)
	o := testOptions(t)
	o.NATSListen, o.NATSLeafListen = "127.0.0.1:0", "127.0.0.1:0"
	o.NATSTLSCert, o.NATSTLSKey, o.NATSTLSClientCA = cert, certKey, clients.File(t)
	hub := build(t, o)
	run(t, hub)
	keys := keyFiles(t, o.Data)
	forNode, forApps := key(t, filepath.Join(o.Data, datadir.LeafFile)), key(t, hub.Welcome().NATSFile)
	for _, at := range []string{forNode, forApps} {
		if !strings.HasPrefix(at, "tls://errata_") || !strings.Contains(at, "@localhost:") {
			t.Errorf("the hub is at %s", at)
		}
	}
	o = testOptions(t)
	o.NATSLeaf, o.TLS.CAFile, o.NATSTLSCert, o.NATSTLSKey = forNode, authority.File(t), mine, mineKey
	node := build(t, o)
	run(t, node)
	await(t, "an event at the node", func() int {
		status, _ := request(t, http.MethodPost, node.Welcome().URL+"/api/v1/events", keys[datadir.IngestKeyFile], `{"message":"order failed"}`)
		return status
	}, func(status int) bool { return status == http.StatusAccepted })
	conn, err := nats.Connect(forApps, nats.CustomInboxPrefix(engine.ClientInbox), nats.RootCAs(authority.File(t)), nats.ClientCert(mine, mineKey))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Request("errors.v1.system", []byte(`{"message":"order failed"}`), visibleTimeout); err != nil {
		t.Fatal(err)
	}
	awaitRecords(t, hub, func(rows []row) bool { return len(rows) == 1 && rows[0].Count == 2 })
	for _, a := range []*app.App{hub, node} {
		awaitMetric(t, a, `errata_tls_certificate_refused{listener="nats"} 0`)
	}
	if said := opsStatus(t, hub); !strings.Contains(said, `"name":"certificate nats","ok":true,"detail":"for localhost, until`) {
		t.Errorf("the status is %s", said)
	}
}

// A node has no key of its own to hash users with: a user who comes through the hub and
// through a node is one user, from the first event that the node takes.
func TestUsersOfALeafAreThoseOfItsHub(t *testing.T) {
	o := testOptions(t)
	o.NATSLeafListen = "127.0.0.1:0"
	hub := build(t, o)
	run(t, hub)
	keys, address := keyFiles(t, o.Data), key(t, filepath.Join(o.Data, datadir.LeafFile))

	o = testOptions(t)
	o.NATSLeaf = address
	node := build(t, o)
	run(t, node)

	send := func(a *app.App, user int) (status int) {
		event := fmt.Sprintf(`{"message":"order failed","user_id":%d}`, user)
		status, _ = request(t, http.MethodPost, a.Welcome().URL+"/api/v1/events", keys[datadir.IngestKeyFile], event)
		return status
	}
	await(t, "an event at the node", func() int { return send(node, 1) }, func(status int) bool { return status == http.StatusAccepted })
	for user := 1; user <= 2; user++ {
		for _, a := range []*app.App{hub, node} {
			if status := send(a, user); status != http.StatusAccepted {
				t.Errorf("an event of user %d: %d", user, status)
			}
		}
	}
	rows := awaitRecords(t, hub, func(rows []row) bool { return len(rows) == 1 && rows[0].Count == 5 })
	if rows[0].Users != 2 {
		t.Errorf("%d users, want 2", rows[0].Users)
	}
}
