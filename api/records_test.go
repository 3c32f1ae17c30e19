package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/query"
)

func signature(t testing.TB, text string) errata.Signature {
	t.Helper()
	s, err := errata.ParseSignature(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sample is a record with something in every field.
func sample(t testing.TB) errata.Record {
	return errata.Record{
		Book: errata.BookDatabase, Signature: signature(t, "00112233445566778899aabbccddeeff"),
		ID: errata.PositionOf(1<<30, 7), Version: 99, Count: 12345678901,
		FirstSeen: start.Add(-48 * time.Hour),
		LastSeen:  start.In(time.FixedZone("far", 14*3600)).Add(456 * time.Microsecond),
		Level:     errata.LevelCritical, File: "src/Orders.php", Line: 51,
		Message: "</script><b>&amp;\u2028\u2029 \"quoted\" \x1b[31m ä",
		Class:   `App\Orders\Missing`, URI: "/checkout?page=2&token=[Filtered]", Method: "POST",
		UserID: -1204, IP: netip.MustParseAddr("::ffff:203.0.113.9"),
		Status: errata.StatusMuted, Regressed: true,
		Project: 7, Environments: []string{"production", "staging", "qa", "dev"}, Releases: []string{"shop@1.4.0"}, Users: 31,
	}
}

func TestListAnswers(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.ToolsGetErrorLogs)
	var asked url.Values
	b.records.list = func(_ context.Context, values url.Values, _ query.Projects) (query.List, error) {
		asked = values
		v6, none := sample(t), errata.Record{
			Book: errata.BookSystem, Count: 1, FirstSeen: start, LastSeen: start,
			Level: errata.LevelDebug, Status: errata.StatusOpen,
		}
		v6.IP = netip.MustParseAddr("2001:db8::1")
		return query.List{Records: []errata.Record{sample(t), v6, none}, Total: 53, Page: 2, Limit: 3, NextPage: 3}, nil
	}
	w := b.do(request{method: "GET", target: "/api/v1/admin/tools/logs/errors?levels=fatal,error&page=2&search=a%26b&search=c", key: key})
	golden(t, "list", w)
	want := url.Values{"levels": {"fatal,error"}, "page": {"2"}, "search": {"a&b", "c"}}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("query handed on (-want +got):\n%s", diff)
	}
	for _, raw := range []string{"<", ">", "&", "\u2028", "\u2029", "\x1b"} {
		if strings.Contains(w.Body.String(), raw) {
			t.Errorf("the answer holds %q unescaped", raw)
		}
	}
	b.records.list = func(context.Context, url.Values, query.Projects) (query.List, error) {
		return query.List{Page: 1, Limit: 25}, nil
	}
	golden(t, "list_empty", b.do(request{method: "GET", target: "/api/v1/admin/tools/logs/errors", key: key}))
}

// TestRecordFieldOrder: the 15 fields of the first contract come in their
// order, then the later ones, then the payload.
func TestRecordFieldOrder(t *testing.T) {
	b := newBench(t, nil)
	w := b.do(request{method: "GET", target: "/api/v1/admin/tools/logs/errors/00112233445566778899aabbccddeeff", key: b.key(t, "Tools/*")})
	tokens := json.NewDecoder(w.Body)
	var keys []string
	for depth := 0; ; {
		token, err := tokens.Token()
		if err != nil {
			break
		}
		switch token := token.(type) {
		case json.Delim:
			if token == '{' {
				depth++
			} else {
				depth--
			}
		case string:
			if depth == 2 {
				keys = append(keys, token)
				var skip any
				if err := tokens.Decode(&skip); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	want := strings.Fields(`id signature type level count first_seen last_seen file line message_preview exception_class
		request_uri request_method user_id ip status regressed project project_id users environments releases overflow payload`)
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("fields of a record (-want +got):\n%s", diff)
	}
}

func TestDetailAnswers(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.ToolsGetErrorLog)
	type question struct {
		Book      errata.Book
		Signature string
	}
	var asked []question
	payload := `{"frames":[{"file":"a<b>.go"}],"n":1.50}`
	b.records.detail = func(_ context.Context, book errata.Book, s errata.Signature, _ query.Projects) (errata.Record, json.RawMessage, error) {
		asked = append(asked, question{book, s.String()})
		return sample(t), json.RawMessage(payload), nil
	}
	const path = "/api/v1/admin/tools/logs/errors/"
	golden(t, "detail", b.do(request{method: "GET", target: path + "00112233445566778899AABBCCDDEEFF?type=DataBase", key: key}))
	payload = ""
	golden(t, "detail_without_payload", b.do(request{method: "GET", target: path + "00112233445566778899aabbccddeeff", key: key}))
	want := []question{
		{errata.BookDatabase, "00112233445566778899aabbccddeeff"},
		{errata.BookSystem, "00112233445566778899aabbccddeeff"},
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
	payload = `{"broken`
	if w := b.do(request{method: "GET", target: path + "00112233445566778899aabbccddeeff", key: key}); w.Code != 500 || code(t, w) != "internal" {
		t.Errorf("a payload that is not JSON: got %d %s, want a whole answer with 500", w.Code, w.Body)
	}
}

func TestDetailRefuses(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	b.records.detail = func(context.Context, errata.Book, errata.Signature, query.Projects) (errata.Record, json.RawMessage, error) {
		return errata.Record{}, nil, errata.Errorf(errata.KindNotFound, "There is no record with this signature in the book system.")
	}
	const good = "00112233445566778899aabbccddeeff"
	for _, c := range []struct {
		path   string
		status int
		code   string
	}{
		{good, 404, "not_found"},
		{good[:31], 422, "signature_required"},
		{good + "0", 422, "signature_required"},
		{good[:31] + "g", 422, "signature_required"},
		{good[:31] + "%00", 422, "signature_required"},
		{"cleanup", 405, "method_not_allowed"},
		{"0x112233445566778899aabbccddeeff", 422, "signature_required"},
		{good + "?type=system", 404, "not_found"},
		{good + "?type=", 404, "not_found"},
		{good + "?type=sql", 422, "invalid_type"},
		{good + "?type=system,database", 422, "invalid_type"},
		{"x?type=sql", 422, "signature_required"},
	} {
		w := b.do(request{method: "GET", target: "/api/v1/admin/tools/logs/errors/" + c.path, key: key})
		if got := code(t, w); w.Code != c.status || got != c.code {
			t.Errorf("%s: got %d %s, want %d %s", c.path, w.Code, got, c.status, c.code)
		}
	}
}

func TestErrorsReachTheCaller(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	secret := "dial tcp 10.1.2.3:9000: SELECT * FROM records /var/lib/errata"
	cause := &json.SyntaxError{}
	outage := errata.Errorf(errata.KindStoreUnavailable, "The records do not answer; try again shortly.")
	slow := errata.Errorf(errata.KindLogUnavailable, "The log does not answer.")
	slow.RetryAfter = 1500 * time.Millisecond
	detailed := errata.Errorf(errata.KindInvalidLevel, "There is no level loud.")
	detailed.Details = map[string]any{"level": "loud<"}
	unencodable := errata.Errorf(errata.KindInvalidOrder, "Order by something else.")
	unencodable.Details = func() {}
	for _, c := range []struct {
		name   string
		err    error
		status int
		retry  string
		logged bool
	}{
		{"error_outage", outage.Because(cause), 503, "5", true},
		{"error_log_outage", slow, 503, "2", true},
		{"error_details", detailed, 422, "", false},
		{"error_bad_details", unencodable, 422, "", false},
		{"error_unknown", &url.Error{Op: "x", URL: secret, Err: cause}, 500, "", true},
		{"error_internal", errata.Errorf(errata.KindInternal, "%s", secret), 500, "", true},
		{"error_timeout", context.DeadlineExceeded, 503, "5", true},
	} {
		b.records.list = func(context.Context, url.Values, query.Projects) (query.List, error) { return query.List{}, c.err }
		before := len(b.log.String())
		w := b.do(request{method: "GET", target: "/api/v1/admin/tools/logs/errors", key: key, headers: []string{"X-Request-Id: req-1"}})
		golden(t, c.name, w)
		if w.Code != c.status || w.Header().Get("Retry-After") != c.retry {
			t.Errorf("%s: got %d, Retry-After %q, want %d, %q", c.name, w.Code, w.Header().Get("Retry-After"), c.status, c.retry)
		}
		if strings.Contains(w.Body.String(), "10.1.2.3") {
			t.Errorf("%s: the cause reached the caller: %s", c.name, w.Body)
		}
		lines := b.log.String()[before:]
		if logged := strings.Contains(lines, `"request failed"`); logged != c.logged || logged && !strings.Contains(lines, `"request_id":"req-1"`) {
			t.Errorf("%s: logged %v, want %v:\n%s", c.name, logged, c.logged, lines)
		}
	}
}

func TestCallerThatHasGone(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	ctx, cancel := context.WithCancel(t.Context())
	b.records.list = func(ctx context.Context, _ url.Values, _ query.Projects) (query.List, error) {
		cancel()
		<-ctx.Done()
		return query.List{}, ctx.Err()
	}
	req, err := http.NewRequestWithContext(ctx, "GET", "/api/v1/admin/tools/logs/errors", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, req)
	if lines := b.log.String(); !strings.Contains(lines, `"status":499`) || strings.Contains(lines, "request failed") {
		t.Errorf("a caller that has gone is no failure of ours:\n%s", lines)
	}
}
