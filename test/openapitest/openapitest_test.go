package openapitest_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/errata-log/errata/test/openapitest"
)

const (
	list      = "/api/v1/admin/tools/logs/errors"
	emptyPage = `{"data":[],"meta":{"total":0,"page":1,"limit":25,"next_page":0,"scoped":false}}`
	cleanedUp = `{"data":{"cleared":true,"before":"x","deleted":{"system":1,"database":0}}}`
)

func failed(code string) string {
	return fmt.Sprintf(`{"error":{"code":%q,"message":"m","request_id":"r"}}`, code)
}

func pong(time string) string {
	return fmt.Sprintf(`{"data":{"pong":true,"version":"1","time":%q}}`, time)
}

// TestCheckFindsWhatDiffers has, for each rule, one exchange that keeps it and
// some that break it.
func TestCheckFindsWhatDiffers(t *testing.T) {
	contract, err := openapitest.Load()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		method, target, sent string
		status               int
		header, body         string // header: "Name: value, …"; JSON, an id and a position are always there
		want                 string // part of the difference, "" for none
	}{
		"a list":                {"GET", list + "?order=COUNT&page=&limit=7", "", 200, "", emptyPage, ""},
		"head":                  {"HEAD", list, "", 200, "", "", ""},
		"a status too many":     {"GET", list, "", 206, "", emptyPage, "status"},
		"a field too many":      {"GET", list, "", 200, "", strings.Replace(emptyPage, `"page"`, `"pages":1,"page"`, 1), "pages"},
		"a field too few":       {"GET", list, "", 200, "", strings.Replace(emptyPage, `"page":1,`, ``, 1), "page"},
		"a time":                {"GET", "/api/v1/admin/ping", "", 200, "", pong("2026-11-21T03:58:25.123Z"), ""},
		"a time of seconds":     {"GET", "/api/v1/admin/ping", "", 200, "", pong("2026-11-21T03:58:25Z"), "time"},
		"a time of another day": {"GET", "/api/v1/admin/ping", "", 200, "", pong("2026-13-21T03:58:25.123Z"), "date-time"},
		"not JSON":              {"GET", list, "", 200, "", "<html>", "JSON"},
		"another type":          {"GET", list, "", 200, "Content-Type: text/html", emptyPage, "text/html"},
		"no id":                 {"GET", list, "", 200, "X-Request-Id: ", emptyPage, "X-Request-Id"},
		"no position":           {"GET", list, "", 200, "X-Errata-Position: ", emptyPage, "X-Errata-Position"},
		"an error":              {"GET", list, "", 422, "", failed("invalid_order"), ""},
		"of another operation":  {"GET", list, "", 422, "", failed("invalid_date"), "invalid_date"},
		"of another status":     {"GET", list, "", 422, "", failed("not_found"), "404"},
		"of nobody":             {"GET", list, "", 422, "", failed("odd"), "code"},
		"when to come back":     {"GET", list, "", 503, "", failed("store_unavailable"), "Retry-After"},
		"a parameter":           {"GET", list + "?order=colour", "", 200, "", emptyPage, "order"},
		"a number":              {"GET", list + "?user_id=me", "", 200, "", emptyPage, "user_id"},
		"a parameter, refused":  {"GET", list + "?order=colour", "", 422, "", failed("invalid_order"), ""},
		"no such path":          {"GET", "/nothing", "", 404, "", failed("not_found"), ""},
		"no such path, and yet": {"GET", "/nothing", "", 200, "", "{}", "no such operation"},
		"no such method":        {"PATCH", list, "", 405, "Allow: GET", failed("method_not_allowed"), ""},
		"not which instead":     {"PATCH", list, "", 405, "", failed("method_not_allowed"), "Allow"},
		"a parameter in the path does not hide a path": {"POST", list + "/cleanup", `{"before":"2026-11-01"}`, 200, "", cleanedUp, ""},
		"a body that should not pass":                  {"POST", list + "/cleanup", `{"before":7}`, 200, "", cleanedUp, "before"},
		"no body":                                      {"POST", list + "/cleanup", "", 200, "", cleanedUp, "no body"},
		"a receiver, with slash":                       {"POST", "/api/7/envelope/", "", 200, "", `{"id":"a"}`, ""},
		"a receiver, without":                          {"POST", "/api/7/envelope", "", 200, "", `{}`, ""},
		"a receiver in other words":                    {"POST", "/api/7/envelope/", "", 200, "", `{"ok":true}`, "ok"},
		"a browser asks":                               {"OPTIONS", "/api/7/envelope/", "", 200, "", "", ""},
		"a body where none is":                         {"GET", "/api/v1/openapi.json", "", 304, "ETag: x", "{}", "body"},
	} {
		header := http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"r"}, "X-Errata-Position": {"7"}}
		if key, value, found := strings.Cut(c.header, ": "); found {
			header.Set(key, value)
		}
		got := contract.Check(openapitest.Exchange{
			Request: httptest.NewRequest(c.method, c.target, http.NoBody),
			Sent:    []byte(c.sent), Status: c.status, Header: header, Body: []byte(c.body),
		})
		if c.want == "" && got != nil || c.want != "" && (got == nil || !strings.Contains(got.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", name, got, c.want)
		}
	}
}

// spy is a test that may fail.
type spy struct {
	testing.TB
	failures []string
}

func (s *spy) Errorf(format string, args ...any) {
	s.failures = append(s.failures, fmt.Sprintf(format, args...))
}

// TestHooksPassEverythingOn sends a request through both hooks, which must not
// change it or its answer.
func TestHooksPassEverythingOn(t *testing.T) {
	const sent = `{"before":"2026-11-01"}`
	inner := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if string(body) != sent || err != nil {
			t.Errorf("the handler reads %q, %v", body, err)
		}
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Errorf("flush: %v", err)
		}
		_, _ = io.WriteString(w, "<html>")
	})
	handled, carried := &spy{TB: t}, &spy{TB: t}
	server := httptest.NewServer(openapitest.Handler(handled, inner))
	defer server.Close()
	client := http.Client{Transport: openapitest.Transport(carried, http.DefaultTransport)}
	defer client.CloseIdleConnections()
	resp, err := client.Post(server.URL+list+"/cleanup", "application/json", strings.NewReader(sent))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); string(body) != "<html>" || err != nil {
		t.Errorf("the client reads %q, %v", body, err)
	}
	for name, s := range map[string]*spy{"Handler": handled, "Transport": carried} {
		if len(s.failures) != 1 || !strings.Contains(s.failures[0], "POST "+list+"/cleanup") {
			t.Errorf("%s reports %q", name, s.failures)
		}
	}
}

func TestBrokenBodiesStayBroken(t *testing.T) {
	broken := errors.New("cut")
	handler := openapitest.Handler(&spy{TB: t}, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); string(body) != "half" || !errors.Is(err, broken) {
			t.Errorf("the handler reads %q, %v", body, err)
		}
	}))
	body := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken))
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, list+"/cleanup", body))
}
