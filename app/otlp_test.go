package app_test

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/datadir"
)

const oneLog = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"severityNumber":17,"body":{"stringValue":"queue is full"}}]}]}]}`

// TestSecondAddress: the second address serves OTLP with the same keys and nothing else,
// while the service runs.
func TestSecondAddress(t *testing.T) {
	o := testOptions(t)
	o.OTLPListen = "127.0.0.1:0"
	a := build(t, o)
	if a.OTLPAddr() == nil || a.OTLPAddr().String() == a.Addr().String() {
		t.Fatalf("listens on %v and %v", a.Addr(), a.OTLPAddr())
	}
	stop := run(t, a)
	second := "http://" + a.OTLPAddr().String()
	ingestKey := key(t, filepath.Join(o.Data, datadir.IngestKeyFile))
	for _, c := range []struct {
		method, path, key, body string
		want                    int
	}{
		{"POST", "/v1/logs", ingestKey, oneLog, 200},
		{"POST", "/v1/logs/", ingestKey, oneLog, 200},
		{"POST", "/v1/traces", ingestKey, "{}", 200},
		{"POST", "/v1/metrics", ingestKey, "{}", 200},
		{"POST", "/v1/logs", "", oneLog, 401},
		{"GET", "/v1/logs", ingestKey, "", 405},
		{"POST", "/v1/profiles", ingestKey, "{}", 404},
		{"POST", "/other/v1/logs", ingestKey, oneLog, 404},
		{"POST", "/api/v1/events", ingestKey, `{"message":"m"}`, 404},
		{"POST", "/api/1/integration/otlp/v1/logs", ingestKey, oneLog, 404},
		{"GET", "/healthz", "", "", 404},
		{"GET", "/metrics", "", "", 404},
		{"GET", "/", "", "", 404},
	} {
		if status, body := request(t, c.method, second+c.path, c.key, c.body); status != c.want {
			t.Errorf("%s %s: %d %s, want %d", c.method, c.path, status, body, c.want)
		}
	}
	// The same bytes twice are a resend.
	awaitRecords(t, a, func(rows []row) bool {
		return len(rows) == 1 && rows[0].Count == 1 && rows[0].MessagePreview == "queue is full"
	})
	if err := stop(); err != nil {
		t.Errorf("run: %v", err)
	}
	if _, err := net.Dial("tcp", a.OTLPAddr().String()); err == nil {
		t.Error("the second address still answers")
	}
}

// TestSecondAddressBeforeRun: a service that is stopped before Run frees both addresses.
func TestSecondAddressBeforeRun(t *testing.T) {
	o := testOptions(t)
	o.OTLPListen = "127.0.0.1:0"
	a := build(t, o)
	if err := a.Stop(context.Background()); err != nil {
		t.Errorf("stop: %v", err)
	}
	for _, addr := range []net.Addr{a.Addr(), a.OTLPAddr()} {
		l, err := net.Listen("tcp", addr.String())
		if err != nil {
			t.Fatalf("%v is not free: %v", addr, err)
		}
		_ = l.Close()
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestOptionsOfOTLP(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(o *app.Options)
		want   string // "" for none
	}{
		{"default", func(*app.Options) {}, ""},
		{"usual", func(o *app.Options) { o.OTLPListen = ":4318" }, ""},
		{"free ports", func(o *app.Options) { o.Listen, o.OTLPListen = "127.0.0.1:0", "127.0.0.1:0" }, ""},
		{"no port", func(o *app.Options) { o.OTLPListen = "localhost" }, "otlp-listen: "},
		{"the same", func(o *app.Options) { o.OTLPListen = o.Listen }, "choose another port"},
		{"on", func(o *app.Options) { o.OTLPSpanExceptions = "on" }, ""},
		{"maybe", func(o *app.Options) { o.OTLPSpanExceptions = "maybe" }, "otlp-span-exceptions: "},
	} {
		o := app.DefaultOptions()
		c.change(&o)
		err := o.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
