package otlp_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/VictoriaMetrics/easyproto"
	"github.com/klauspost/compress/zstd"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/ingest/otlp"
)

// oneLog is a request with one error.
const oneLog = `{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeLogs":[{"scope":{"name":"s"},` +
	`"logRecords":[{"timeUnixNano":"1795231120683975239","severityNumber":17,"body":{"stringValue":"it broke"}}]}]}]}`

// status reads a google.rpc.Status in either encoding.
func status(t testing.TB, w *httptest.ResponseRecorder) (code int, message string) {
	t.Helper()
	if w.Header().Get("Content-Type") == jsonText {
		var s struct {
			Code    int
			Message string
		}
		if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil {
			t.Fatalf("%d %s: %v", w.Code, w.Body, err)
		}
		return s.Code, s.Message
	}
	number, _, err := easyproto.GetInt32(w.Body.Bytes(), 1)
	if err != nil {
		t.Fatalf("%d %q: %v", w.Code, w.Body, err)
	}
	message, _, err = easyproto.GetString(w.Body.Bytes(), 2)
	if err != nil {
		t.Fatalf("%d %q: %v", w.Code, w.Body, err)
	}
	return int(number), message
}

func TestRefusalsAreStatusesInTheEncodingOfTheRequest(t *testing.T) {
	logs := recorded(t, "otel-go-logs.pb")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(logs)
	_ = z.Close()
	for _, c := range []struct {
		name, path, contentType string
		body                    []byte
		header                  []string
		http, grpc              int
	}{
		{"no key", "/v1/logs", protobuf, logs, []string{"Authorization", ""}, 401, 16},
		{"wrong key", "/v1/logs", jsonText, []byte(oneLog), []string{"Authorization", "Bearer nope"}, 401, 16},
		{"narrow key", "/v1/logs", protobuf, logs, []string{"Authorization", "Bearer " + doortest.Narrow}, 403, 7},
		{"unknown path", "/v1/profiles", protobuf, logs, nil, 404, 5},
		{"foreign type", "/v1/logs", "text/csv", logs, nil, 415, 3},
		{"broken type", "/v1/logs", "application/", logs, nil, 415, 3},
		{"unknown coding", "/v1/logs", protobuf, logs, []string{"Content-Encoding", "snappy"}, 415, 3},
		{"cut gzip", "/v1/logs", protobuf, packed.Bytes()[:100], []string{"Content-Encoding", "gzip"}, 400, 3},
		{"cut protobuf", "/v1/logs", protobuf, logs[:len(logs)-1], nil, 400, 3},
		{"JSON called protobuf", "/v1/logs", protobuf, []byte(oneLog), nil, 400, 3},
		{"protobuf called JSON", "/v1/logs", jsonText, logs, nil, 400, 3},
		{"cut JSON", "/v1/logs", jsonText, []byte(oneLog[:100]), nil, 400, 3},
		{"empty JSON", "/v1/logs", jsonText, nil, nil, 400, 3},
		{"a list", "/v1/traces", jsonText, []byte("[]"), nil, 400, 3},
		{"junk behind", "/v1/logs", jsonText, []byte(oneLog + "x"), nil, 400, 3},
		{"broken metrics", "/v1/metrics", jsonText, []byte("{"), nil, 400, 3},
		{"broken metrics", "/v1/metrics", protobuf, []byte{0x0a, 5, 1}, nil, 400, 3},
	} {
		h, recorder := newHandler(t)
		w := post(h, c.path, c.contentType, c.body, c.header...)
		grpc, message := status(t, w)
		if w.Code != c.http || grpc != c.grpc || message == "" || recorder.Count() != 0 {
			t.Errorf("%s: %d %d %q, %d taken, want %d %d", c.name, w.Code, grpc, message, recorder.Count(), c.http, c.grpc)
		}
		wantType := protobuf
		if c.contentType == jsonText {
			wantType = jsonText
		}
		if got := w.Header().Get("Content-Type"); got != wantType {
			t.Errorf("%s: answered as %s", c.name, got)
		}
	}
	h, _ := newHandler(t)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/logs", nil))
	if w.Code != 405 || w.Header().Get("Allow") != "POST" {
		t.Errorf("GET: %d", w.Code)
	}
}

// OTel Python drops the data on 429, so back-pressure is 503. Only a sender over
// its quota gets 429.
func TestBackPressureIs503(t *testing.T) {
	limited := errata.Errorf(errata.KindRateLimited, "over the budget")
	limited.RetryAfter = 90 * time.Second
	for name, c := range map[string]struct {
		err        error
		http, grpc int
		retry      string
	}{
		"away":    {errata.Errorf(errata.KindLogUnavailable, "the log does not answer"), 503, 14, "5"},
		"full":    {errata.Errorf(errata.KindLogFull, "the log is full"), 503, 14, "5"},
		"limited": {limited, 429, 8, "90"},
		"fault":   {errors.New("nil map at /srv/errata/x.go"), 500, 13, ""},
	} {
		for contentType, content := range map[string][]byte{protobuf: recorded(t, "otel-go-logs.pb"), jsonText: []byte(oneLog)} {
			h, recorder := newHandler(t)
			recorder.Err = c.err
			w := post(h, "/v1/logs", contentType, content)
			grpc, message := status(t, w)
			if w.Code != c.http || grpc != c.grpc || w.Header().Get("Retry-After") != c.retry || strings.Contains(message, "x.go") {
				t.Errorf("%s: %d %d %q, Retry-After %q", name, w.Code, grpc, message, w.Header().Get("Retry-After"))
			}
		}
	}
	// A draft that may be taken later refuses the request: after a partial
	// success the exporter would not send it again.
	h, recorder := newHandler(t)
	recorder.Reject = func(ingest.Draft) *errata.Error { return limited }
	if w := post(h, "/v1/logs", jsonText, []byte(oneLog)); w.Code != 429 {
		t.Errorf("rejected for now: %d %s", w.Code, w.Body)
	}
}

// panicking is an accepter that panics.
type panicking struct{}

func (panicking) Accept(context.Context, ingest.Source, []ingest.Draft) (ingest.Receipt, error) {
	panic("index out of range")
}

func TestAPanicIsAnsweredInTheFormOfTheProtocol(t *testing.T) {
	h, _ := newHandler(t, func(c *otlp.Config) { c.Accepter = panicking{} })
	for contentType, content := range map[string][]byte{protobuf: recorded(t, "otel-go-logs.pb"), jsonText: []byte(oneLog)} {
		w := post(h, "/v1/logs", contentType, content)
		if code, message := status(t, w); w.Code != 500 || code != 13 || strings.Contains(message, "index") {
			t.Errorf("%s: %d %d %q", contentType, w.Code, code, message)
		}
	}
}

func TestPartialSuccess(t *testing.T) {
	h, recorder := newHandler(t)
	recorder.Reject = func(d ingest.Draft) *errata.Error {
		if d.Level == errata.LevelFatal {
			return errata.Errorf(errata.KindInvalidEvent, "nothing in it")
		}
		return nil
	}
	w := post(h, "/v1/logs", jsonText, recorded(t, "otel-go-logs.json"))
	if want := `{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"nothing in it"}}`; w.Code != 200 || w.Body.String() != want {
		t.Errorf("%d %s, want %s", w.Code, w.Body, want)
	}
	w = post(h, "/v1/logs", protobuf, recorded(t, "otel-go-logs.pb"))
	partial, ok, err := easyproto.GetMessageData(w.Body.Bytes(), 1)
	if err != nil || !ok {
		t.Fatalf("%d %q: %v", w.Code, w.Body, err)
	}
	count, _, _ := easyproto.GetInt64(partial, 1)
	message, _, _ := easyproto.GetString(partial, 2)
	if count != 1 || message != "nothing in it" {
		t.Errorf("%d %q", count, message)
	}
}

func TestMetricsAreCountedAndNotKept(t *testing.T) {
	const metrics = `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"a","gauge":{"dataPoints":[{"asInt":"1"},{"asInt":"2"}]}},{"sum":{"dataPoints":[{}]}}]}]}]}`
	h, recorder := newHandler(t)
	w := post(h, "/v1/metrics", jsonText, []byte(metrics))
	if w.Code != 200 || !strings.Contains(w.Body.String(), `"rejectedDataPoints":"3"`) {
		t.Errorf("JSON: %d %s", w.Code, w.Body)
	}
	var m easyproto.Marshaler
	metric := m.MessageMarshaler().AppendMessage(1).AppendMessage(2).AppendMessage(2)
	metric.AppendString(1, "a")
	histogram := metric.AppendMessage(9)
	histogram.AppendMessage(1).AppendFixed64(3, 7)
	histogram.AppendMessage(1).AppendFixed64(3, 8)
	w = post(h, "/v1/metrics/", protobuf, m.Marshal(nil))
	partial, _, _ := easyproto.GetMessageData(w.Body.Bytes(), 1)
	if count, _, _ := easyproto.GetInt64(partial, 1); w.Code != 200 || count != 2 {
		t.Errorf("protobuf: %d, %d points", w.Code, count)
	}
	if w := post(h, "/v1/metrics", protobuf, nil); w.Code != 200 || w.Body.Len() != 0 {
		t.Errorf("none: %d %q", w.Code, w.Body)
	}
	if recorder.Count() != 0 {
		t.Error("metrics became drafts")
	}
}

func TestEncodingsAndTypes(t *testing.T) {
	logs := recorded(t, "otel-go-logs.pb")
	var gz, zs bytes.Buffer
	g := gzip.NewWriter(&gz)
	_, _ = g.Write(logs)
	_ = g.Close()
	z, err := zstd.NewWriter(&zs)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = z.Write(logs)
	_ = z.Close()
	for _, c := range []struct {
		name, contentType, coding string
		body                      []byte
		answer                    string
	}{
		{"plain", "application/x-protobuf", "", logs, protobuf},
		{"other name", "application/protobuf", "", logs, protobuf},
		{"parameters", "Application/X-Protobuf; charset=utf-8", "", logs, protobuf},
		{"gzip", protobuf, "gzip", gz.Bytes(), protobuf},
		{"zstd", protobuf, "zstd", zs.Bytes(), protobuf},
		{"no type, protobuf", "", "", logs, protobuf},
		{"no type, JSON", "", "", recorded(t, "otel-go-logs.json"), jsonText},
	} {
		h, recorder := newHandler(t)
		w := post(h, "/v1/logs/", c.contentType, c.body, "Content-Encoding", c.coding)
		if w.Code != 200 || recorder.Count() != 3 || w.Header().Get("Content-Type") != c.answer {
			t.Errorf("%s: %d %q as %s, %d taken", c.name, w.Code, w.Body, w.Header().Get("Content-Type"), recorder.Count())
		}
	}
}

func TestPathOfASentryProject(t *testing.T) {
	const auth = "Sentry sentry_version=7, sentry_key=" + doortest.PublicKey
	for _, c := range []struct {
		name, path, header, value string
		want                      int
	}{
		{"Sentry key", "/api/7/integration/otlp/v1/logs", "X-Sentry-Auth", auth, 200},
		{"with a slash", "/api/7/integration/otlp/v1/logs/", "X-Sentry-Auth", auth, 200},
		{"with a prefix", "/errors/api/7/integration/otlp/v1/logs", "X-Sentry-Auth", auth, 200},
		{"API key", "/api/7/integration/otlp/v1/logs", "Authorization", "Bearer KEY", 200},
		{"foreign project", "/api/8/integration/otlp/v1/logs", "X-Sentry-Auth", auth, 403},
		{"no number", "/api/x/integration/otlp/v1/logs", "X-Sentry-Auth", auth, 404},
		{"no key", "/api/7/integration/otlp/v1/logs", "Accept", "*/*", 401},
		{"a Sentry key elsewhere", "/v1/logs", "X-Sentry-Auth", auth, 401},
	} {
		h, recorder := newHandler(t)
		w := post(h, c.path, jsonText, []byte(oneLog), "Authorization", "", c.header, c.value)
		if w.Code != c.want || (recorder.Count() == 1) != (c.want == 200) {
			t.Errorf("%s: %d %s, %d taken", c.name, w.Code, w.Body, recorder.Count())
		}
	}
}

// A resend has the same bytes and must have the same ids. Equal records of one
// request have different ids.
func TestIDs(t *testing.T) {
	h, recorder := newHandler(t)
	ids := func(path, contentType string, content []byte) (all []string) {
		if w := post(h, path, contentType, content); w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		for _, d := range recorder.Take() {
			all = append(all, d.ClientID)
		}
		return all
	}
	for _, name := range []string{"otel-go-logs.pb", "otel-go-traces.pb", "otel-go-logs.json"} {
		contentType := protobuf
		if strings.HasSuffix(name, "json") {
			contentType = jsonText
		}
		first := ids(pathOf(name), contentType, recorded(t, name))
		again := ids(pathOf(name), contentType, recorded(t, name))
		if strings.Join(first, " ") != strings.Join(again, " ") {
			t.Errorf("%s: %v, then %v", name, first, again)
		}
	}
	record := oneLog[strings.Index(oneLog, `{"timeUnix`):strings.Index(oneLog, `]}]}]}`)]
	twice := ids("/v1/logs", jsonText, []byte(strings.Replace(oneLog, record, record+","+record, 1)))
	once := ids("/v1/logs", jsonText, []byte(oneLog))
	if len(twice) != 2 || twice[0] == twice[1] || twice[0] != once[0] || len(once[0]) != 2+32 || once[0][:2] != "o-" {
		t.Errorf("twice %v, once %v", twice, once)
	}
	other := ids("/v1/logs", jsonText, []byte(strings.Replace(oneLog, "shop", "cart", 1)))
	if other[0] == once[0] {
		t.Error("another service has the same id")
	}
}

func TestManyErrors(t *testing.T) {
	record := oneLog[strings.Index(oneLog, `{"timeUnix`):strings.Index(oneLog, `]}]}]}`)]
	many := func(n int) []byte {
		return []byte(strings.Replace(oneLog, record, strings.Repeat(record+",", n-1)+record, 1))
	}
	budget := door.NewBudget(0)
	h, recorder := newHandler(t, func(c *otlp.Config) { c.Budget = budget })
	seen := map[string]bool{}
	if w := post(h, "/v1/logs", jsonText, many(2500)); w.Code != 200 || recorder.Count() != 2500 {
		t.Errorf("2,500: %d %s, %d taken", w.Code, w.Body, recorder.Count())
	}
	for _, d := range recorder.Take() {
		seen[d.ClientID] = true
	}
	if len(seen) != 2500 {
		t.Errorf("%d different ids of 2,500", len(seen))
	}
	if w := post(h, "/v1/logs", jsonText, many(20001)); w.Code != 413 || recorder.Count() != 2500 {
		t.Errorf("20,001: %d %s", w.Code, w.Body)
	}
	if budget.InUse() != 0 {
		t.Errorf("%d bytes still in use", budget.InUse())
	}
	small, recorder := newHandler(t, func(c *otlp.Config) { c.Budget = door.NewBudget(1 << 20) })
	if w := post(small, "/v1/logs", jsonText, many(2500)); w.Code != 503 || w.Header().Get("Retry-After") != "1" || recorder.Count() != 0 {
		t.Errorf("over the budget: %d %s", w.Code, w.Body)
	}
}
