package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
)

// An ingest node has health and metrics, and says that the rest is at the hub.
func TestLeafHasNoAdministration(t *testing.T) {
	b := newBench(t, nil)
	handler, err := api.New(api.Config{Leaf: true, Keys: b.keys, Health: b.health, Now: b.clock.Now,
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })})
	if err != nil {
		t.Fatal(err)
	}
	b.handler = handler // the document is that of a service with records
	key := b.key(t, access.Everything)
	for target, want := range map[string]int{
		"/healthz": http.StatusOK, "/readyz": http.StatusOK, "/metrics": http.StatusOK,
		"/api/v1/admin/ping": http.StatusOK, "/api/v1/admin/ops/status": http.StatusOK,
		"/": http.StatusNotFound, "/api/v1/admin/keys": http.StatusNotFound, "/api/v1/admin/tools/logs/errors": http.StatusNotFound,
		"/api/v1/openapi.json": http.StatusNotFound, "/api/v1/sign-in/evaluate": http.StatusNotFound,
	} {
		w := b.do(request{method: "GET", target: target, key: key})
		if w.Code != want || want == http.StatusNotFound && !strings.Contains(w.Body.String(), "at the hub") {
			t.Errorf("%s: %d %s, want %d", target, w.Code, w.Body, want)
		}
	}
	if _, err := api.New(api.Config{Leaf: true, Keys: b.keys}); err == nil {
		t.Error("an ingest node without Health was made")
	}
}
