package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/VictoriaMetrics/easyproto"
	"github.com/klauspost/compress/zstd"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/ingest/otlp"
	"github.com/errata-log/errata/internal/load"
)

const (
	// otlpBatch is how many log records a request carries, each an exception
	// of about 1.5 KB.
	otlpBatch = 100
	otlpConns = 8
	// cpuShare divides the span where only one loop runs.
	cpuShare = 5
	otlpPath = "/v1/logs"
)

// otlpForm is one encoding of the same export.
type otlpForm struct {
	name, contentType, coding string
	body                      []byte
}

func (f otlpForm) header() [][2]string {
	header := [][2]string{{"Content-Type", f.contentType}}
	if f.coding != "" {
		header = append(header, [2]string{"Content-Encoding", f.coding})
	}
	return header
}

// otlp measures each encoding twice: the processor time of receiver and pipeline
// in memory, beside reading and decompressing alone, and then events a second at
// the service, beside the null sink.
func (b *bench) otlp() error {
	forms, err := otlpForms()
	if err != nil {
		return err
	}
	// First, while the service is idle: its processor time would count.
	for _, f := range forms {
		if err := b.otlpCPU(f); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	for _, f := range forms {
		header := append(f.header(), [2]string{"Authorization", "Bearer " + b.ingestKey})
		// The same bytes each time, because compressed ones cannot be changed:
		// all events get onto the log, and count once.
		req := load.NewRequest(http.MethodPost, otlpPath, header, string(f.body), otlpBatch)
		if err := b.httpRow("OTLP "+f.name, req, otlpConns, 0); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		// The fold of these events must not slow down the next row.
		if err := b.caughtUp(context.Background()); err != nil {
			return fmt.Errorf("%s: fold what came: %w", f.name, err)
		}
	}
	return nil
}

func (b *bench) otlpCPU(f otlpForm) error {
	pipeline, err := ingest.New(ingest.Config{Log: emptyLog{}, Random: rand.Reader})
	if err != nil {
		return err
	}
	handler, err := otlp.New(otlp.Config{Config: door.Config{Accepter: pipeline, Keyring: openKeyring{}}})
	if err != nil {
		return err
	}
	run := func(serve http.Handler) func() (float64, error) {
		return func() (float64, error) { return cpuPerEvent(serve, f, b.span/cpuShare) }
	}
	ours, floor, ratio, err := paired(b.rounds, run(handler), run(readOnly{}))
	if err != nil {
		return err
	}
	row{name: "OTLP " + f.name + ", CPU", ours: ours, ceiling: floor, unit: "us/event",
		note: fmt.Sprintf("%.1f times reading alone; %.1f KB a request of %d, %.1f KB opened", ratio, float64(len(f.body))/1000, otlpBatch, float64(f.opened())/1000)}.write(b.out)
	return nil
}

// cpuPerEvent is the processor time of the process, in microseconds.
func cpuPerEvent(serve http.Handler, f otlpForm, span time.Duration) (float64, error) {
	events, began := 0, doortest.CPU()
	for end := time.Now().Add(span); time.Now().Before(end); events += otlpBatch {
		r := httptest.NewRequest(http.MethodPost, otlpPath, bytes.NewReader(f.body)) //nolint:noctx // not sent
		r.Header.Set("Authorization", "Bearer any")
		for _, h := range f.header() {
			r.Header.Set(h[0], h[1])
		}
		answer := httptest.NewRecorder()
		if serve.ServeHTTP(answer, r); answer.Code != http.StatusOK {
			return 0, fmt.Errorf("answered %d: %s", answer.Code, answer.Body)
		}
	}
	return float64((doortest.CPU() - began).Microseconds()) / float64(events), nil
}

// emptyLog drops the appended events.
type emptyLog struct{}

func (emptyLog) Append(context.Context, []errata.Event) error { return nil }

// readOnly reads and decompresses the body, and nothing else.
type readOnly struct{}

func (readOnly) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, err := door.Open(w, r, door.Options{})
	if err == nil {
		defer b.Close()
		buf := door.GetBuffer()
		defer buf.Free()
		err = b.ReadAll(buf, ingest.MaxOpenBody)
	}
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
	}
}

// otlpForms are one export in every encoding that exporters use.
func otlpForms() ([]otlpForm, error) {
	const protobuf, jsonText = "application/x-protobuf", "application/json"
	binary, text := otlpProtobuf(), []byte(otlpJSON())
	gzipBinary, err1 := pack(binary, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
	zstdBinary, err2 := pack(binary, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
	gzipText, err3 := pack(text, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
	return []otlpForm{
		{"protobuf", protobuf, "", binary}, {"protobuf+gzip", protobuf, "gzip", gzipBinary}, {"protobuf+zstd", protobuf, "zstd", zstdBinary},
		{"JSON", jsonText, "", text}, {"JSON+gzip", jsonText, "gzip", gzipText},
	}, errors.Join(err1, err2, err3)
}

// opened is the size of the uncompressed body.
func (f otlpForm) opened() int {
	if f.contentType == "application/json" {
		return len(otlpJSON())
	}
	return len(otlpProtobuf())
}

func pack(content []byte, writer func(io.Writer) (io.WriteCloser, error)) ([]byte, error) {
	var out bytes.Buffer
	w, err := writer(&out)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	err = w.Close() // flushes the rest
	return out.Bytes(), err
}

// otlpRecord holds the fields that differ between records.
type otlpRecord struct {
	nanos          uint64
	trace, span    []byte
	class, message string
	line           int64
}

func otlpRecords() []otlpRecord {
	all := make([]otlpRecord, otlpBatch)
	for i := range all {
		// Random ids, as in real exports: they do not compress.
		id := fmt.Sprintf("%016x%016x", uint64(i+1)*0x9e3779b97f4a7c15, uint64(i+1)*0xbf58476d1ce4e5b9)
		all[i] = otlpRecord{
			nanos: uint64(time.Now().UnixNano()) + uint64(i), trace: []byte(id[:16]), span: []byte(id[16:24]),
			class: "shop.payment.GatewayError" + letters(uint64(i%10+1)), message: fmt.Sprintf("could not charge order %d of customer 4711", 1000+i), line: int64(40 + i),
		}
	}
	return all
}

// otlpStack is a stack of twelve frames.
var otlpStack = func() string {
	var b strings.Builder
	b.WriteString("shop.payment.GatewayError: connection reset by peer\n")
	for i := range 12 {
		fmt.Fprintf(&b, "\tat com.example.shop.order.Step%d.handle(Step%d.java:%d)\n", i, i, 20+i)
	}
	return b.String()
}()

// otlpTexts are the attributes that all records have.
var otlpTexts = [][2]string{
	{"exception.stacktrace", otlpStack}, {"code.file.path", "/srv/shop/src/payment/Gateway.java"}, {"code.function.name", "com.example.shop.payment.Gateway.charge"},
	{"url.path", "/checkout"}, {"url.query", "page=2&token=abc"}, {"http.request.method", "POST"}, {"client.address", "203.0.113.9"},
	{"user.id", "1204"}, {"thread.name", "http-nio-8080-exec-7"}, {"feature", "checkout"},
}

var otlpResource = [][2]string{
	{"service.name", "shop"}, {"service.version", "1.4.2"}, {"deployment.environment.name", "production"}, {"host.name", "web-1"},
	{"telemetry.sdk.name", "opentelemetry"}, {"telemetry.sdk.language", "java"}, {"telemetry.sdk.version", "1.58.0"},
}

func otlpProtobuf() []byte {
	attribute := func(to *easyproto.MessageMarshaler, field uint32, key, value string) {
		pair := to.AppendMessage(field)
		pair.AppendString(1, key)
		pair.AppendMessage(2).AppendString(1, value)
	}
	var m easyproto.Marshaler
	part := m.MessageMarshaler().AppendMessage(1)
	resource := part.AppendMessage(1)
	for _, a := range otlpResource {
		attribute(resource, 1, a[0], a[1])
	}
	scope := part.AppendMessage(2)
	scope.AppendMessage(1).AppendString(1, "com.example.shop.payment")
	for _, r := range otlpRecords() {
		record := scope.AppendMessage(2)
		record.AppendFixed64(1, r.nanos)
		record.AppendInt32(2, 17)
		record.AppendString(3, "ERROR")
		record.AppendMessage(5).AppendString(1, "checkout failed")
		attribute(record, 6, "exception.type", r.class)
		attribute(record, 6, "exception.message", r.message)
		for _, a := range otlpTexts {
			attribute(record, 6, a[0], a[1])
		}
		line := record.AppendMessage(6)
		line.AppendString(1, "code.line.number")
		line.AppendMessage(2).AppendInt64(3, r.line)
		record.AppendBytes(9, r.trace)
		record.AppendBytes(10, r.span)
		record.AppendFixed64(11, r.nanos)
	}
	return m.Marshal(nil)
}

func otlpJSON() string {
	attribute := func(key, value string) string {
		return fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, key, value)
	}
	list := func(pairs [][2]string) string {
		var all []string
		for _, a := range pairs {
			all = append(all, attribute(a[0], a[1]))
		}
		return strings.Join(all, ",")
	}
	var records []string
	for _, r := range otlpRecords() {
		records = append(records, fmt.Sprintf(`{"timeUnixNano":"%d","observedTimeUnixNano":"%d","severityNumber":17,"severityText":"ERROR","body":{"stringValue":"checkout failed"},`+
			`"attributes":[%s,%s,%s,{"key":"code.line.number","value":{"intValue":"%d"}}],"traceId":"%x","spanId":"%x"}`,
			r.nanos, r.nanos, attribute("exception.type", r.class), attribute("exception.message", r.message), list(otlpTexts), r.line, r.trace, r.span))
	}
	return fmt.Sprintf(`{"resourceLogs":[{"resource":{"attributes":[%s]},"scopeLogs":[{"scope":{"name":"com.example.shop.payment"},"logRecords":[%s]}]}]}`,
		list(otlpResource), strings.Join(records, ","))
}
