package sentry_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/sentry"
)

func TestAnswers(t *testing.T) {
	f := func(name, body string, status int, want string) {
		t.Helper()
		h, _ := newHandler(t)
		w := post(h, envelopeURL, body)
		if w.Code != status || w.Body.String() != want {
			t.Errorf("%s: %d %s, want %d %s", name, w.Code, w.Body, status, want)
		}
		if w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Access-Control-Allow-Origin") != "*" ||
			!strings.Contains(w.Header().Get("Access-Control-Expose-Headers"), "X-Sentry-Rate-Limits") {
			t.Errorf("%s: headers %v", name, w.Header())
		}
		if failed := status != http.StatusOK; failed != (w.Header().Get("X-Sentry-Error") != "") {
			t.Errorf("%s: X-Sentry-Error %q", name, w.Header().Get("X-Sentry-Error"))
		}
	}
	const id = "6dc715abb89b4f6694ff46ae15f7dfb8"
	f("event", envelope, 200, `{"id":"`+id+`"}`)
	f("the header's id wins", `{"event_id":"AAAAAAAA-bbbb-cccc-dddd-eeeeeeeeeeee"}`+envelope[2:], 200, `{"id":"aaaaaaaabbbbccccddddeeeeeeeeeeee"}`)
	f("an empty id is none", `{"event_id":""}`+envelope[2:], 200, `{"id":"`+id+`"}`)
	f("no id at all", "{}\n{\"type\":\"event\"}\n{\"message\":\"x\"}", 200, `{"id":"00000000000000000000000000000001"}`)
	f("the id of zeros is none", "{}\n{\"type\":\"event\"}\n{\"event_id\":\"00000000-0000-0000-0000-000000000000\"}", 200, `{"id":"00000000000000000000000000000001"}`)
	f("no item", "{}", 200, "{}")
	f("sessions", "{}\n{\"type\":\"sessions\"}\n{\"any\":1}", 200, "{}")
	f("transaction as an event", "{}\n{\"type\":\"event\"}\n{\"type\":\"transaction\",\"event_id\":\""+id+"\"}", 200, "{}")
	f("empty", "", 400, `{"detail":"invalid event envelope","causes":["the body is empty"]}`)
	f("not an object", "[]\n", 400, `{"detail":"invalid event envelope","causes":["the envelope header is not a JSON object"]}`)
	f("event is a list", "{}\n{\"type\":\"event\"}\n[]", 400, `{"detail":"invalid event envelope","causes":["the event is not a JSON object"]}`)
	f("event is broken", "{}\n{\"type\":\"event\"}\n{\"a\":}", 400, `{"detail":"invalid event envelope","causes":["the event is not valid JSON"]}`)
	f("header line too long", `{"x":"`+strings.Repeat("x", ingest.MaxEnvelopeHeader)+"\"}\n", 413, `{"detail":"the envelope header is larger than 8192 bytes"}`)
	f("event too large", "{}\n{\"type\":\"event\",\"length\":1048577}\n", 413, `{"detail":"the event is larger than 1048576 bytes"}`)
}

func TestPreflight(t *testing.T) {
	h, _ := newHandler(t)
	r := httptest.NewRequest(http.MethodOptions, "/api/7/envelope/", nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	header := w.Header()
	if w.Code != 200 || header.Get("Access-Control-Allow-Origin") != "*" || header.Get("Access-Control-Allow-Methods") != "POST, OPTIONS" ||
		header.Get("Access-Control-Max-Age") != "3600" {
		t.Errorf("%d %v", w.Code, header)
	}
	for _, name := range []string{"X-Sentry-Auth", "Content-Type", "Content-Encoding", "Authorization", "sentry-trace", "baggage"} {
		if !strings.Contains(header.Get("Access-Control-Allow-Headers"), name) {
			t.Errorf("%s is not allowed", name)
		}
	}
}

func TestMethods(t *testing.T) {
	for _, method := range []string{"GET", "PUT", "DELETE", "HEAD"} {
		h, _ := newHandler(t)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, envelopeURL, nil))
		if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "POST, OPTIONS" {
			t.Errorf("%s: %d, Allow %q", method, w.Code, w.Header().Get("Allow"))
		}
	}
}

func TestRefusalsOfTheLog(t *testing.T) {
	limited := errata.Errorf(errata.KindRateLimited, "over the budget")
	limited.RetryAfter = 90 * time.Second
	for name, c := range map[string]struct {
		err           error
		status        int
		retry, limits string
	}{
		"log away":      {errata.Errorf(errata.KindLogUnavailable, "the log does not answer"), 503, "5", "5:error;default;log_item:key:log-unavailable"},
		"log full":      {errata.Errorf(errata.KindLogFull, "the log is full"), 503, "5", "5:error;default;log_item:key:log-full"},
		"rate limited":  {limited, 429, "90", "90:error;default;log_item:key:quota"},
		"our own fault": {errors.New("nil map at /srv/errata/x.go"), 500, "", ""},
	} {
		h, recorder := newHandler(t)
		recorder.Err = c.err
		w := post(h, envelopeURL, envelope)
		if w.Code != c.status || w.Header().Get("Retry-After") != c.retry || w.Header().Get("X-Sentry-Rate-Limits") != c.limits {
			t.Errorf("%s: %d, Retry-After %q, limits %q", name, w.Code, w.Header().Get("Retry-After"), w.Header().Get("X-Sentry-Rate-Limits"))
		}
		if strings.Contains(w.Body.String(), "x.go") || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: %s", name, w.Body)
		}
		// A request without errors does not need the log.
		if w := post(h, envelopeURL, "{}\n{\"type\":\"session\"}\n{}"); w.Code != 200 {
			t.Errorf("%s: a session got %d", name, w.Code)
		}
	}
}

func TestRejectedDrafts(t *testing.T) {
	h, recorder := newHandler(t)
	recorder.Reject = func(d ingest.Draft) *errata.Error {
		if d.Message == "bad" {
			return errata.Errorf(errata.KindInvalidEvent, "nothing in it")
		}
		return nil
	}
	two := "{}\n{\"type\":\"event\"}\n{\"message\":\"bad\"}\n{\"type\":\"event\"}\n{\"message\":\"good\"}"
	if w := post(h, envelopeURL, two); w.Code != 200 || recorder.Count() != 1 {
		t.Errorf("one of two: %d %s, %d taken", w.Code, w.Body, recorder.Count())
	}
	if w := post(h, envelopeURL, two[:strings.LastIndex(two, "\n{\"type")]); w.Code != 422 {
		t.Errorf("the only one: %d %s", w.Code, w.Body)
	}
}

func TestOverloadIsRefusedAndGivenBack(t *testing.T) {
	budget := door.NewBudget(1 << 20)
	h, recorder := newHandler(t, func(c *sentry.Config) { c.Budget = budget })
	large := "{}\n{\"type\":\"event\"}\n{\"message\":\"" + strings.Repeat("x", 900<<10) + "\"}"
	w := post(h, envelopeURL, large)
	if w.Code != 503 || w.Header().Get("Retry-After") == "" || recorder.Count() != 0 {
		t.Errorf("%d %s, %d taken", w.Code, w.Body, recorder.Count())
	}
	if budget.InUse() != 0 {
		t.Errorf("%d bytes still in use", budget.InUse())
	}
	if w := post(h, envelopeURL, envelope); w.Code != 200 {
		t.Errorf("the next one: %d %s", w.Code, w.Body)
	}
}

func TestEncodingsOfEnvelopes(t *testing.T) {
	// Every encoding at both endpoints, chunked, and without a content type.
	for _, p := range packers {
		for target, text := range map[string]string{envelopeURL: envelope, storeURL: event} {
			h, recorder := newHandler(t)
			r := httptest.NewRequest(http.MethodPost, target, io.MultiReader(bytes.NewReader(squeeze(t, p.writer, []byte(text)))))
			r.Header.Set("Content-Encoding", p.coding)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != 200 || recorder.Count() != 1 {
				t.Errorf("%s to %s: %d %s, %d taken", p.name, target, w.Code, w.Body, recorder.Count())
			}
		}
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(envelope))
	_ = z.Close()
	for _, c := range []struct {
		name, coding, body string
		want               int
	}{
		{"gzip", "gzip", packed.String(), 200},
		{"cut gzip", "gzip", packed.String()[:packed.Len()-1], 400},
		{"unknown", "snappy", envelope, 415},
		{"two", "gzip, gzip", packed.String(), 415},
	} {
		h, recorder := newHandler(t)
		w := post(h, envelopeURL, c.body, "Content-Encoding", c.coding)
		if w.Code != c.want || (recorder.Count() == 1) != (c.want == 200) {
			t.Errorf("%s: %d %s, %d taken", c.name, w.Code, w.Body, recorder.Count())
		}
	}
}
