package native_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/ingest/native"
)

func newHandler(t testing.TB, configure ...func(*native.Config)) (*native.Handler, *doortest.Recorder) {
	t.Helper()
	recorder := &doortest.Recorder{}
	cfg := native.Config{
		Accepter: recorder, Keyring: doortest.Keys{},
		Now:        func() time.Time { return time.Date(2026, 11, 21, 3, 20, 0, 0, time.UTC) },
		NewID:      func() string { return "an-id" },
		Registerer: prometheus.NewRegistry(),
	}
	for _, c := range configure {
		c(&cfg)
	}
	h, err := native.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return h, recorder
}

func post(h http.Handler, content string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/api/v1/events", strings.NewReader(content))
	r.Header.Set("Authorization", "Bearer "+doortest.Token)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// code is the error code of an answer, "" for a success.
func code(t testing.TB, w *httptest.ResponseRecorder) string {
	t.Helper()
	var answer struct {
		Data  json.RawMessage
		Error struct {
			Code, Message string
			RequestID     string `json:"request_id"`
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	if failed := w.Code >= 400; failed != (answer.Error.Code != "") || failed != (answer.Data == nil) || failed && (answer.Error.Message == "" || answer.Error.RequestID != "an-id") {
		t.Errorf("%d with the body %s", w.Code, w.Body)
	}
	return answer.Error.Code
}

func messages(drafts []ingest.Draft) string {
	var all []string
	for _, d := range drafts {
		all = append(all, d.Message)
	}
	return strings.Join(all, " ")
}

func TestFormsOfTheBody(t *testing.T) {
	const a, b, bad, empty = `{"message":"a"}`, `{"message":"b"}`, `{"message":`, `{"file":"x"}`
	f := func(name, content string, status int, taken, want string) {
		t.Helper()
		for _, contentType := range []string{"", "application/json", "application/x-ndjson", "text/plain"} {
			h, recorder := newHandler(t)
			w := post(h, content, "Content-Type", contentType)
			if got := messages(recorder.Take()); w.Code != status || got != taken || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: %d %q %s, want %d %q %s", name, w.Code, got, w.Body, status, taken, want)
			}
			code(t, w)
		}
	}
	f("one object", a, 202, "a", `{"data":{"accepted":1,"rejected":[],"adjusted":[]}}`)
	f("with blanks around", " \r\n\t"+a+"\n \n", 202, "a", "")
	f("with a byte order mark", "\xef\xbb\xbf"+a, 202, "a", "")
	f("over several lines", "{\n  \"message\":\n  \"a\"\n}\n", 202, "a", "")
	f("with a brace at the beginning of a line", "{\"payload\":\n{\"x\":1},\n\"message\":\"a\"}", 202, "a", "")
	f("array", "["+a+","+b+"]", 202, "a b", `"accepted":2`)
	f("array with blanks", " [ "+a+" ,\n "+b+"\n] \n", 202, "a b", `"accepted":2`)
	f("array with a brace in a text", `[{"message":"}],{\"a"}]`, 202, `}],{"a`, "")
	f("lines", a+"\n"+b+"\n", 202, "a b", `"accepted":2`)
	f("lines, CRLF, blank lines, no last end", "\n"+a+"\r\n\r\n \n"+b, 202, "a b", `"accepted":2`)

	f("a bad line", a+"\n"+bad+"\n"+b, 202, "a b", `"rejected":[{"index":1,"code":"invalid_body","message":"the event is not valid JSON"}]`)
	f("a bad first line", bad+"\"x\n"+a+"\n"+b, 202, "a b", `"index":0,"code":"invalid_body"`)
	f("a cut last line", a+"\n"+`{"message":"b`, 202, "a", `"index":1,"code":"invalid_body"`)
	f("an empty event of several", "["+a+","+empty+"]", 202, "a", `"rejected":[{"index":1,"code":"invalid_event","message":"message or exception_class is needed"}]`)
	f("a number among them", "["+a+",7]", 202, "a", `"index":1,"code":"invalid_event"`)
	f("a line that is an array", a+"\n["+b+"]", 202, "a", `"index":1,"code":"invalid_event"`)
	f("a line that is too long", a+"\n{\"message\":\""+strings.Repeat("x", ingest.MaxEvent)+"\"}\n"+b, 202, "a b", `"index":1,"code":"body_too_large"`)
	f("a first line that is too long", "{\"message\":\""+strings.Repeat("x", ingest.MaxEvent)+"\"}\n"+b, 202, "b", `"index":0,"code":"body_too_large"`)
	f("an element that is too long", "["+a+",{\"message\":\""+strings.Repeat("x", ingest.MaxEvent)+"\"},"+b+"]", 202, "a b", `"index":1,"code":"body_too_large"`)

	f("a cut object", bad, 400, "", `"invalid_body"`)
	f("a cut object over lines", "{\n\"message\":\n\"a\"\n", 400, "", `"invalid_body"`)
	f("only bad lines", `{"message"`+"\n{\n"+bad, 400, "", `"details":[{"index":0`)
	f("broken JSON in an array", "["+a+","+bad+","+b+"]", 400, "", `nothing was stored`)
	f("an array that is cut", "["+a+","+b, 400, "", `"invalid_body"`)
	f("an array that is cut after a comma", "["+a+",", 400, "", `"invalid_body"`)
	f("a comma at the end", "["+a+",]", 400, "", `"invalid_body"`)
	f("two commas", "["+a+",,"+b+"]", 400, "", `"invalid_body"`)
	f("no comma", "["+a+" "+b+"]", 400, "", `"invalid_body"`)
	f("more behind the array", "["+a+"]"+b, 400, "", `"invalid_body"`)
	f("two objects in a line", a+b, 400, "", `"invalid_body"`)
	f("empty", "", 400, "", `"invalid_body"`)
	f("blank", " \n ", 400, "", `"invalid_body"`)
	f("a text", `"a"`, 400, "", `"invalid_body"`)
	f("null", `null`, 400, "", `"invalid_body"`)
	f("an empty array", "[ ]", 422, "", `"invalid_event"`)
	f("an empty object", "{}", 422, "", `"message or exception_class is needed"`)
	f("nothing good", "["+empty+","+empty+"]", 422, "", `"details":[{"index":0,"code":"invalid_event"`)
	f("one event that is too large", "{\"message\":\""+strings.Repeat("x", ingest.MaxEvent)+"\"}", 413, "", `"body_too_large"`)
	f("one over several lines that is too large", "{\n\"message\":\""+strings.Repeat("x", ingest.MaxEvent)+"\"}", 413, "", `"body_too_large"`)
}

func TestLimitsOfABatch(t *testing.T) {
	for name, join := range map[string]func(n int) string{
		"array": func(n int) string { return "[" + strings.Repeat(`{"message":"a"},`, n-1) + `{"message":"a"}]` },
		"lines": func(n int) string { return strings.Repeat("{\"message\":\"a\"}\n", n) },
	} {
		h, recorder := newHandler(t)
		if w := post(h, join(ingest.MaxBatch)); w.Code != 202 || recorder.Count() != ingest.MaxBatch {
			t.Errorf("%s at the limit: %d %s", name, w.Code, w.Body)
		}
		if w := post(h, join(ingest.MaxBatch+1)); w.Code != 413 || code(t, w) != "body_too_large" || recorder.Count() != ingest.MaxBatch {
			t.Errorf("%s over it: %d %s, %d taken", name, w.Code, w.Body, recorder.Count())
		}
	}
}

func TestKeysMethodsAndEncodings(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(`{"message":"a"}`))
	_ = z.Close()
	for _, c := range []struct {
		name, method, content string
		header                []string
		status                int
		code                  string
	}{
		{"bearer", "POST", `{"message":"a"}`, []string{"Authorization", "Bearer KEY"}, 202, ""},
		{"own header", "POST", `{"message":"a"}`, []string{"X-Api-Key", "KEY"}, 202, ""},
		{"gzip", "POST", packed.String(), []string{"X-Api-Key", "KEY", "Content-Encoding", "gzip"}, 202, ""},
		{"no key", "POST", `{"message":"a"}`, nil, 401, "unauthorized"},
		{"wrong key", "POST", `{"message":"a"}`, []string{"X-Api-Key", "nope"}, 401, "unauthorized"},
		{"narrow key", "POST", `{"message":"a"}`, []string{"X-Api-Key", doortest.Narrow}, 403, "insufficient_scope"},
		{"cut gzip", "POST", packed.String()[:20], []string{"X-Api-Key", "KEY", "Content-Encoding", "gzip"}, 400, "invalid_body"},
		{"unknown coding", "POST", `{"message":"a"}`, []string{"X-Api-Key", "KEY", "Content-Encoding", "snappy"}, 415, "unsupported_media_type"},
		{"GET", "GET", "", []string{"X-Api-Key", "KEY"}, 405, "method_not_allowed"},
	} {
		h, recorder := newHandler(t)
		r := httptest.NewRequest(c.method, "/api/v1/events", strings.NewReader(c.content))
		for i := 0; i+1 < len(c.header); i += 2 {
			r.Header.Set(c.header[i], c.header[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := code(t, w); w.Code != c.status || got != c.code || (recorder.Count() == 1) != (c.status == 202) {
			t.Errorf("%s: %d %s, %d taken", c.name, w.Code, w.Body, recorder.Count())
		}
		if c.status == 401 && w.Header().Get("WWW-Authenticate") != "Bearer" || c.status == 405 && w.Header().Get("Allow") != "POST" {
			t.Errorf("%s: headers %v", c.name, w.Header())
		}
	}
}

func TestRefusalsOfTheLog(t *testing.T) {
	limited := errata.Errorf(errata.KindRateLimited, "over the budget")
	limited.RetryAfter = 90 * time.Second
	for name, c := range map[string]struct {
		err    error
		status int
		code   string
		retry  string
	}{
		"away":    {errata.Errorf(errata.KindLogUnavailable, "the log does not answer"), 503, "log_unavailable", "5"},
		"full":    {errata.Errorf(errata.KindLogFull, "the log is full"), 503, "log_full", "5"},
		"limited": {limited, 429, "rate_limited", "90"},
		"fault":   {errors.New("nil map at /srv/errata/x.go"), 500, "internal", ""},
	} {
		h, recorder := newHandler(t)
		recorder.Err = c.err
		w := post(h, `{"message":"a"}`)
		if w.Code != c.status || code(t, w) != c.code || w.Header().Get("Retry-After") != c.retry || strings.Contains(w.Body.String(), "x.go") {
			t.Errorf("%s: %d %s, Retry-After %q", name, w.Code, w.Body, w.Header().Get("Retry-After"))
		}
	}
}

// A rejection of the pipeline has the index of the event in the request.
func TestIndexesAreThoseOfTheRequest(t *testing.T) {
	h, recorder := newHandler(t)
	recorder.Reject = func(d ingest.Draft) *errata.Error {
		if d.Message == "no" {
			return errata.Errorf(errata.KindRateLimited, "too many")
		}
		return nil
	}
	w := post(h, `[{"file":"x"},{"message":"a"},{"message":"no"},{"level":"loud"},{"message":"b"}]`)
	want := `{"data":{"accepted":2,"rejected":[{"index":0,"code":"invalid_event","message":"message or exception_class is needed"},` +
		`{"index":2,"code":"rate_limited","message":"too many"},` +
		`{"index":3,"code":"invalid_level","message":"level must be one of debug, info, notice, warning, error, critical, fatal"}],"adjusted":[]}}` + "\n"
	if diff := cmp.Diff(want, w.Body.String()); w.Code != 202 || diff != "" {
		t.Errorf("%d (-want +got):\n%s", w.Code, diff)
	}
	// A batch that the budget refuses may be taken later.
	if w := post(h, `[{"message":"no"},{"message":"no"}]`); w.Code != 429 || w.Header().Get("Retry-After") == "" {
		t.Errorf("all over the budget: %d %s", w.Code, w.Body)
	}
}

func TestMemoryIsBoundedAndGivenBack(t *testing.T) {
	budget := door.NewBudget(3 << 20)
	h, recorder := newHandler(t, func(c *native.Config) { c.Budget = budget })
	line := `{"message":"` + strings.Repeat("x", 1000) + "\"}\n"
	if w := post(h, strings.Repeat(line, 900)); w.Code != 202 || recorder.Count() != 900 {
		t.Errorf("900 KB: %d %.200s", w.Code, w.Body)
	}
	long := `{"payload":{"x":"` + strings.Repeat("x", 900<<10) + "\"},\"message\":\"m\"}\n"
	if w := post(h, strings.Repeat(long, 8)); w.Code != 503 || code(t, w) != "overloaded" || w.Header().Get("Retry-After") != "1" {
		t.Errorf("7 MB: %d %.200s", w.Code, w.Body)
	}
	if budget.InUse() != 0 {
		t.Errorf("%d bytes still in use", budget.InUse())
	}
}

func TestRequestIDOfTheFrontIsKept(t *testing.T) {
	h, _ := newHandler(t)
	w := httptest.NewRecorder()
	w.Header().Set("X-Request-Id", "front")
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/events", nil))
	if !strings.Contains(w.Body.String(), `"request_id":"front"`) {
		t.Error(w.Body)
	}
	w = post(h, `{"message":"a"}`)
	if got := w.Header().Get("X-Request-Id"); got != "an-id" {
		t.Errorf("a new id is %q", got)
	}
}

func TestKeyOfADSN(t *testing.T) {
	for _, c := range []struct {
		user, password, apiKey string
		want                   int
	}{
		{doortest.PublicKey, "7", "", 202},
		{doortest.PublicKey, "8", "", 403},
		{doortest.Token, "7", "", 403},
		{doortest.PublicKey, "", "", 401},
		{doortest.PublicKey, "-7", "", 401},
		{"somebody", "at a proxy", doortest.Token, 202},
		{doortest.PublicKey, "7", "another key", 401},
	} {
		h, recorder := newHandler(t)
		r := httptest.NewRequest(http.MethodPost, "/api/v1/events", strings.NewReader(`{"message":"a"}`))
		r.SetBasicAuth(c.user, c.password)
		if c.apiKey != "" {
			r.Header.Set("X-Api-Key", c.apiKey)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if code(t, w); w.Code != c.want || (recorder.Count() == 1) != (c.want == 202) {
			t.Errorf("%+v: %d %s", c, w.Code, w.Body)
		}
		if c.want == 202 && recorder.Source().Project != doortest.Project {
			t.Errorf("%+v: project %d", c, recorder.Source().Project)
		}
	}
}

func BenchmarkHandler(b *testing.B) {
	one := `{"id":"6dc715abb89b4f6694ff46ae15f7dfb8","time":"2026-11-21T03:18:40.608Z","level":"error","message":"order 42 failed: card declined by issuer","exception_class":"App\\OrderError",` +
		`"file":"/srv/app/src/Checkout.php","line":117,"request_uri":"/checkout?page=2","request_method":"POST","user_id":1204,"ip":"203.0.113.9","frames":[` +
		strings.Repeat(`{"file":"/srv/app/src/Kernel.php","line":31,"function":"App\\Kernel->handle","in_app":true},`, 5) + `{"file":"/srv/app/public/index.php","line":9}],"payload":{"cart":{"items":3,"total":"19.90"}}}`
	for name, content := range map[string]string{"one": one, "500 lines": strings.Repeat(one+"\n", 500)} {
		b.Run(name, func(b *testing.B) {
			h, recorder := newHandler(b)
			recorder.Discard = true
			reader := strings.NewReader(content)
			r := httptest.NewRequest(http.MethodPost, "/api/v1/events", reader)
			r.Header.Set("Authorization", "Bearer "+doortest.Token)
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			began := doortest.CPU()
			for b.Loop() {
				reader.Reset(content)
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				if w.Code != 202 {
					b.Fatal(w.Code, w.Body)
				}
			}
			b.ReportMetric(float64(doortest.CPU()-began)/float64(b.N), "cpu-ns/op")
		})
	}
}
