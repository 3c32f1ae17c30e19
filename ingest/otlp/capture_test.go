package otlp_test

import (
	"bytes"
	"flag"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/ingest/otlp"
)

var update = flag.Bool("update", false, "write the golden files anew")

const (
	protobuf = "application/x-protobuf"
	jsonText = "application/json"
)

func newConfig() door.Config {
	return door.Config{
		Accepter: &doortest.Recorder{}, Keyring: doortest.Keys{},
		Now:        func() time.Time { return time.Date(2026, 11, 21, 3, 20, 0, 0, time.UTC) },
		Registerer: prometheus.NewRegistry(),
	}
}

func newHandler(t testing.TB, configure ...func(*otlp.Config)) (*otlp.Handler, *doortest.Recorder) {
	t.Helper()
	recorder := &doortest.Recorder{}
	cfg := otlp.Config{Config: newConfig()}
	cfg.Accepter = recorder
	for _, c := range configure {
		c(&cfg)
	}
	h, err := otlp.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return h, recorder
}

// post sends a body as an exporter does.
func post(h http.Handler, path, contentType string, body []byte, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+doortest.Token)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func recorded(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func pathOf(name string) string {
	if strings.Contains(name, "traces") {
		return "/v1/traces"
	}
	return "/v1/logs"
}

func TestRecordedRequestsBecomeDrafts(t *testing.T) {
	got := "# what each recorded request becomes; roots cut, query not yet filtered\n"
	for _, name := range []string{"otel-go-logs.pb", "otel-go-traces.pb"} {
		h, recorder := newHandler(t)
		w := post(h, pathOf(name), protobuf, recorded(t, name))
		if w.Code != http.StatusOK || w.Body.Len() != 0 || w.Header().Get("Content-Type") != protobuf {
			t.Errorf("%s: %d %q as %s", name, w.Code, w.Body, w.Header().Get("Content-Type"))
		}
		got += name + "\n"
		for _, d := range recorder.Take() {
			got += "  " + doortest.Line(d, "/srv/app/", "/srv/shop/") + "\n"
		}
	}
	path := filepath.Join("testdata", "expected.txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(recorded(t, "expected.txt")), got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The JSON form of the same requests, with ids as hex digits and severities by
// name, says the same.
func TestJSONSaysTheSameAsProtobuf(t *testing.T) {
	for _, name := range []string{"otel-go-logs", "otel-go-traces"} {
		h, recorder := newHandler(t)
		if w := post(h, pathOf(name), protobuf, recorded(t, name+".pb")); w.Code != http.StatusOK {
			t.Fatalf("%s.pb: %d %s", name, w.Code, w.Body)
		}
		want := recorder.Take()
		w := post(h, pathOf(name), jsonText+"; charset=utf-8", recorded(t, name+".json"))
		if w.Code != http.StatusOK || w.Body.String() != "{}" || w.Header().Get("Content-Type") != jsonText {
			t.Errorf("%s.json: %d %q as %s", name, w.Code, w.Body, w.Header().Get("Content-Type"))
		}
		options := cmp.Options{cmpopts.IgnoreFields(ingest.Draft{}, "ClientID"), cmpopts.EquateComparable(netip.Addr{})}
		if diff := cmp.Diff(want, recorder.Take(), append(options, cmpopts.EquateEmpty())...); diff != "" {
			t.Errorf("%s (-protobuf +json):\n%s", name, diff)
		}
	}
}
