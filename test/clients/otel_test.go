package clients

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.opentelemetry.io/contrib/bridges/otelslog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/errata-log/errata/test/servicetest"
)

// otelShop is an application with the SDK and both exporters, protobuf in gzip.
type otelShop struct {
	tracer trace.Tracer
	log    *slog.Logger
	at     placed
}

func TestOpenTelemetryGo(t *testing.T) {
	s := start(t)
	ctx, cancel := context.WithTimeout(t.Context(), servicetest.RequestTimeout)
	defer cancel()
	host, auth := strings.TrimPrefix(s.URL, "http://"), map[string]string{"Authorization": "Bearer " + s.Ingest}
	spans, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpoint(host), otlptracehttp.WithInsecure(),
		otlptracehttp.WithHeaders(auth), otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
	if err != nil {
		t.Fatal(err)
	}
	logs, err := otlploghttp.New(ctx, otlploghttp.WithEndpoint(host), otlploghttp.WithInsecure(),
		otlploghttp.WithHeaders(auth), otlploghttp.WithCompression(otlploghttp.GzipCompression))
	if err != nil {
		t.Fatal(err)
	}
	about := resource.NewSchemaless(attribute.String("service.name", "shop"), attribute.String("service.version", "1.4.2"),
		attribute.String("deployment.environment.name", "production"), attribute.String("host.name", "web-1"),
		attribute.String("telemetry.sdk.language", "go"), attribute.String("telemetry.sdk.name", "opentelemetry"))
	traces := sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans), sdktrace.WithResource(about))
	records := sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewBatchProcessor(logs)), sdklog.WithResource(about))
	shop := &otelShop{tracer: traces.Tracer("shop"), log: otelslog.NewLogger("shop", otelslog.WithLoggerProvider(records), otelslog.WithSource(true))}

	shop.checkout(ctx)
	shop.checkout(ctx)
	shop.queue(ctx)
	shop.boom(ctx)
	if err := traces.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	if err := records.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	const file = "test/clients/otel_test.go"
	nested := fields{
		Type: "database", Level: "error", Class: "*fmt.wrapError", Message: "load order: order 42 failed", Count: 2,
		Chain: []string{"*fmt.wrapError: load order: order 42 failed"}, // the trace SDK looks no deeper
	}.thrown(file, shop.at.nested, "(*otelShop).checkout").checkout().shop("otlp-span")
	message := fields{Level: "error", Message: "queue is full"}.thrown(file, shop.at.message, "").shop("otlp-log")
	panicked := fields{
		Level: "error", Class: "runtime.plainError", Message: "assignment to entry in nil map",
		Chain: []string{"runtime.plainError: assignment to entry in nil map"},
	}.thrown(file, shop.at.panicked, "(*otelShop).boom").shop("otlp-span")
	for _, f := range []*fields{&nested, &message, &panicked} {
		f.Release = "1.4.2" // the name of the service is another attribute
	}
	s.check(t, nested, message, panicked)
}

// checkout records an error with the span, as instrumentation does, and logs the
// same error: both count once.
func (o *otelShop) checkout(ctx context.Context) {
	ctx, span := o.tracer.Start(ctx, "POST /checkout", trace.WithAttributes(
		attribute.String("http.request.method", "POST"), attribute.String("url.path", "/checkout"), attribute.String("url.query", "page=2&token=s3cret"),
		attribute.String("client.address", "203.0.113.9"), attribute.String("user.id", "1204"),
		attribute.String("db.system.name", "postgresql")))
	defer span.End()
	err := fmt.Errorf("load order: %w", &orderError{42})
	o.at.nested = here() + 1
	span.RecordError(err, trace.WithStackTrace(true))
	o.log.ErrorContext(ctx, "checkout failed", "error", err)
}

func (o *otelShop) queue(ctx context.Context) {
	o.at.message = here() + 1
	o.log.ErrorContext(ctx, "queue is full")
	o.log.InfoContext(ctx, "a line that is no error")
}

// boom panics; the span records it when it ends.
func (o *otelShop) boom(ctx context.Context) {
	defer func() { _ = recover() }()
	_, span := o.tracer.Start(ctx, "POST /boom")
	defer span.End(trace.WithStackTrace(true))
	var stock map[string]int
	o.at.panicked = here() + 1
	stock["tea"]++ //nolint:staticcheck // that it panics is the point
}
