package app_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/test/testenv"
)

// publisher connects as an application does, with the URL in the file.
func publisher(t *testing.T, a *app.App) jetstream.JetStream {
	t.Helper()
	info, err := os.Stat(a.Welcome().NATSFile)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("%s has mode %v, want 0600", info.Name(), info.Mode().Perm())
	}
	return testenv.DialJetStream(t, key(t, a.Welcome().NATSFile), nats.CustomInboxPrefix(engine.ClientInbox))
}

// TestEventsOverNATS: a published event is in the list; the same event counts once over
// NATS and HTTP; dead letters can be listed, published again and dropped; all of that
// also works after a restart, with the same password.
//
// long: the life of one service.
func TestEventsOverNATS(t *testing.T) {
	o := testOptions(t)
	o.NATSListen, o.NATSProject = "127.0.0.1:0", 1
	a := build(t, o)
	stop := run(t, a)
	first := key(t, a.Welcome().NATSFile)
	js := publisher(t, a)
	publish := func(js jetstream.JetStream, subject, body string) {
		t.Helper()
		if _, err := js.Publish(t.Context(), subject, []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	const event = `{"id":"%d","message":"order failed","exception_class":"OrderError"}`
	for i := range 5 {
		publish(js, "errors.v1.system", fmt.Sprintf(event, i))
	}
	// The first ingest key is of project 1, and so are events from NATS.
	url, keys := a.Welcome().URL, keyFiles(t, o.Data)
	if status, body := request(t, http.MethodPost, url+"/api/v1/events", keys[datadir.IngestKeyFile], fmt.Sprintf(event, 4)); status != http.StatusAccepted {
		t.Fatalf("by HTTP: %d %s", status, body)
	}
	publish(js, "errors.v1.system", "poison, token=hunter2hunter2")
	awaitRecords(t, a, func(rows []row) bool { return len(rows) == 1 && rows[0].Count == 5 })

	dead := url + "/api/v1/admin/ops/dead"
	admin := keys[datadir.AdminKeyFile]
	wantDead(t, dead, admin, `"reason":"invalid_body"`, `"body":"poison, token=[Filtered]"`, `"total":1`)
	if status, body := request(t, http.MethodPost, dead+"/replay", admin, `{"all":true}`); status != http.StatusOK || !strings.Contains(body, `"replayed":1`) {
		t.Errorf("replay: %d %s", status, body)
	}
	awaitMetric(t, a, `errata_nats_dead_total{reason="invalid_body"} 2`)
	awaitMetric(t, a, `errata_events_accepted_total{source="nats"} 5`, "errata_nats_taken_total 7", "errata_nats_pending_messages 0", "errata_nats_lag_seconds 0")
	if said := opsStatus(t, a); !strings.Contains(said, "1 refused messages") {
		t.Errorf("status: %s", said)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}

	a = build(t, o)
	run(t, a)
	if again := key(t, a.Welcome().NATSFile); again[:strings.Index(again, "@")] != first[:strings.Index(first, "@")] {
		t.Error("the password changed in a restart")
	}
	js = publisher(t, a)
	publish(js, "errors.v1.system", fmt.Sprintf(event, 3)) // again
	publish(js, "errors.v1.system", fmt.Sprintf(event, 5))
	awaitRecords(t, a, func(rows []row) bool { return len(rows) == 1 && rows[0].Count == 6 })
	dead = a.Welcome().URL + "/api/v1/admin/ops/dead"
	wantDead(t, dead, admin, `"total":1`)
	if status, body := request(t, http.MethodPost, dead+"/drop", admin, `{"all":true}`); status != http.StatusOK || !strings.Contains(body, `"dropped":1`) {
		t.Errorf("drop: %d %s", status, body)
	}
	wantDead(t, dead, admin, `"total":0`)
}

func wantDead(t *testing.T, url, admin string, want ...string) {
	t.Helper()
	status, body := get(t, url, admin)
	for _, part := range want {
		if status != http.StatusOK || !strings.Contains(body, part) {
			t.Errorf("dead letters: %d %s, want %s", status, body, part)
		}
	}
}

// Without the setting applications cannot reach the embedded NATS, and there is no file
// with its address.
func TestNATSIsClosedByDefault(t *testing.T) {
	o := testOptions(t)
	a := build(t, o)
	if file := a.Welcome().NATSFile; file != "" {
		t.Errorf("there is a file %s", file)
	}
	if _, err := os.Stat(filepath.Join(o.Data, datadir.NATSFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file of NATS: %v", err)
	}
	if err := a.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNATSOptions(t *testing.T) {
	for want, change := range map[string]func(*app.Options){
		"nats-project": func(o *app.Options) { o.NATSProject = 0 },
		"nats-listen":  func(o *app.Options) { o.NATSListen = "4222" },
		"nats-url":     func(o *app.Options) { o.NATSListen, o.NATSURL = ":4222", "nats://h:4222" },
	} {
		o := app.DefaultOptions()
		change(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error about %s", err, want)
		}
	}
}
