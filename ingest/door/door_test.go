package door_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/door/doortest"
)

func TestNewNamesWhatIsMissing(t *testing.T) {
	recorder := &doortest.Recorder{}
	for field, cfg := range map[string]door.Config{
		"Accepter": {Keyring: doortest.Keys{}},
		"Keyring":  {Accepter: recorder},
	} {
		if _, err := door.New("test", cfg); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("without %s: %v", field, err)
		}
	}
	taken := prometheus.NewRegistry()
	taken.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "errata_door_requests_total"}))
	if _, err := door.New("test", door.Config{Accepter: recorder, Keyring: doortest.Keys{}, Registerer: taken}); err == nil {
		t.Error("a name that is taken by another metric must be an error")
	}
}

func TestDoorsShareTheirMetricsAndLogOnlyTheirOwnFaults(t *testing.T) {
	registry := prometheus.NewRegistry()
	var log strings.Builder
	cfg := door.Config{
		Accepter: &doortest.Recorder{}, Keyring: doortest.Keys{}, Registerer: registry,
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	}
	for _, name := range []string{"one", "two"} {
		d, err := door.New(name, cfg)
		if err != nil {
			t.Fatal(err)
		}
		d.Done(t.Context(), "id", nil)
		d.Done(t.Context(), "id", errata.Errorf(errata.KindInvalidBody, "cut"))
		d.Done(t.Context(), "id", errata.Errorf(errata.KindLogFull, "full"))
	}
	if log.Len() > 0 {
		t.Errorf("refusals were logged: %s", &log)
	}
	d, err := door.New("one", cfg)
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	d.Done(gone, "r-0", gone.Err())
	if log.Len() > 0 {
		t.Errorf("a sender that left was logged: %s", &log)
	}
	d.Done(t.Context(), "r-1", errors.New("nil map"))
	if text := log.String(); !strings.Contains(text, "r-1") || !strings.Contains(text, "nil map") {
		t.Errorf("log %q", text)
	}
	want := map[string]float64{
		"errata_door_requests_total internal one": 1, "errata_door_requests_total client_gone one": 1,
		"errata_door_requests_total invalid_body one": 1, "errata_door_requests_total invalid_body two": 1,
		"errata_door_requests_total log_full one": 1, "errata_door_requests_total log_full two": 1,
		"errata_door_requests_total ok one": 1, "errata_door_requests_total ok two": 1,
	}
	if diff := cmp.Diff(want, doortest.Counters(registry)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestByToken(t *testing.T) {
	d, err := door.New("test", door.Config{Accepter: &doortest.Recorder{}, Keyring: doortest.Keys{}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		header, value string
		want          errata.Kind
	}{
		"bearer":             {"Authorization", "Bearer KEY", ""},
		"scheme in any case": {"Authorization", "bearer  KEY ", ""},
		"own header":         {"X-Api-Key", "KEY", ""},
		"none":               {"Accept", "*/*", errata.KindUnauthorized},
		"empty":              {"Authorization", "Bearer ", errata.KindUnauthorized},
		"another scheme":     {"Authorization", "Basic KEY", errata.KindUnauthorized},
		"wrong":              {"Authorization", "Bearer key", errata.KindUnauthorized},
		"narrow":             {"X-Api-Key", doortest.Narrow, errata.KindInsufficientScope},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header.Set(c.header, c.value)
		grant, err := d.ByToken(r)
		if c.want == "" {
			if err != nil || grant.Project != doortest.Project {
				t.Errorf("%s: %v, %v", name, grant, err)
			}
		} else if errata.KindOf(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestTold(t *testing.T) {
	hidden := door.Told(errors.New("dial tcp 10.0.0.1: refused"))
	if hidden.Kind != errata.KindInternal || strings.Contains(hidden.Message, "10.0.0.1") {
		t.Errorf("an unknown error is shown as %v", hidden)
	}
	full := errata.Errorf(errata.KindLogFull, "the log is full")
	if told := door.Told(full); told.RetryAfter <= 0 || full.RetryAfter != 0 {
		t.Errorf("retry after %v, and the original has %v", told.RetryAfter, full.RetryAfter)
	}
	full.RetryAfter = 1500 * time.Millisecond
	if got := door.RetrySeconds(door.Told(full)); got != 2 {
		t.Errorf("%d seconds, want 2", got)
	}
	if told := door.Told(errata.Errorf(errata.KindInvalidBody, "cut")); told.RetryAfter != 0 {
		t.Errorf("a broken body says to come back after %v", told.RetryAfter)
	}
}

// A prefix of trusted proxies means the same in all its spellings.
func TestSender(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.RemoteAddr = "10.1.2.3:5"
	r.Header.Set("X-Forwarded-For", "203.0.113.9")
	for prefix, want := range map[string]string{"10.0.0.0/8": "203.0.113.9", "::ffff:10.0.0.0/104": "203.0.113.9", "10.9.0.0/16": "10.1.2.3"} {
		d, err := door.New("test", door.Config{
			Accepter: &doortest.Recorder{}, Keyring: doortest.Keys{}, TrustedProxies: []netip.Prefix{netip.MustParsePrefix(prefix)},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Sender(r).String(); got != want {
			t.Errorf("%s: %s, want %s", prefix, got, want)
		}
	}
	if _, err := door.New("test", door.Config{Accepter: &doortest.Recorder{}, Keyring: doortest.Keys{}, TrustedProxies: make([]netip.Prefix, 1)}); err == nil {
		t.Error("an empty prefix is taken")
	}
}
