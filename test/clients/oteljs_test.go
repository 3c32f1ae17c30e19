//go:build clients

package clients

import (
	"strings"
	"testing"

	"github.com/errata-log/errata/test/servicetest"
)

func TestOpenTelemetryJS(t *testing.T) {
	for _, form := range []struct{ name, exporter, compression string }{
		{"JSON", "http", "none"}, {"protobuf", "proto", "none"}, {"JSON in gzip", "http", "gzip"},
	} {
		t.Run(form.name, func(t *testing.T) {
			s := start(t)
			env := []string{"RECEIVER=" + s.URL, "KEY=" + s.Ingest, "COMPRESSION=" + form.compression}
			if r := node(t, env, "testdata/otel.mjs", form.exporter); r.Code != 1 || strings.TrimSpace(r.Output) != "" {
				t.Errorf("%d %s", r.Code, r.Output)
			}
			const file = "test/clients/testdata/otel.mjs"
			nested := fields{
				Type: "database", Level: "error", Class: "OrderError", Message: "order 42 failed", Count: 2,
				Chain: []string{"OrderError: order 42 failed"},
			}.thrown(file, servicetest.Place(t, "otel.mjs", "nested"), "load").checkout().shop("otlp-span")
			message := fields{Level: "error", Message: "queue is full"}.shop("otlp-log")
			unhandled := fields{
				Level: "fatal", Class: "TypeError", Message: "Cannot read properties of undefined (reading 'count')",
				Chain: []string{"TypeError: Cannot read properties of undefined (reading 'count')"},
			}.thrown(file, servicetest.Place(t, "otel.mjs", "unhandled"), "boom").shop("otlp-log")
			for _, f := range []*fields{&nested, &message, &unhandled} {
				f.Release = "1.4.2"
			}
			s.check(t, nested, message, unhandled)
		})
	}
}
