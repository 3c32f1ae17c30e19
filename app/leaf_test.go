package app_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/errata-log/errata/app"
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
		"nats-leaf: want nats://errata_": func(o *app.Options) { o.NATSLeaf = "http://u:hunter2@h:1" },
		"nats-url names another":         func(o *app.Options) { o.NATSLeaf, o.NATSURL = hub, "nats://h:1" },
		"clickhouse-dsn":                 func(o *app.Options) { o.NATSLeaf, o.ClickHouseDSN = hub, "clickhouse://h:1/d" },
		"nats-listen: nats-leaf":         func(o *app.Options) { o.NATSLeaf, o.NATSListen = hub, ":1" },
		"nats-leaf-listen: nats-leaf":    func(o *app.Options) { o.NATSLeaf, o.NATSLeafListen = hub, ":1" },
		"nats-leaf-listen: it opens":     func(o *app.Options) { o.NATSURL, o.NATSLeafListen = "nats://h:1", ":1" },
		"nats-leaf-listen: \"1\"":        func(o *app.Options) { o.NATSLeafListen = "1" },
	} {
		o := app.DefaultOptions()
		change(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v, want an error with %q and no password", err, want)
		}
	}
}
