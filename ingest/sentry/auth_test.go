package sentry_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/door/doortest"
)

const (
	key      = doortest.PublicKey
	event    = `{"event_id":"6dc715abb89b4f6694ff46ae15f7dfb8","message":"it broke"}`
	envelope = "{}\n{\"type\":\"event\"}\n" + event
)

// post sends a body with the key in the query, as browsers do, unless target
// says otherwise.
func post(h http.Handler, target, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, target, strings.NewReader(body))
	r.RemoteAddr = "192.0.2.99:40000"
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const (
	envelopeURL = "/api/7/envelope/?sentry_key=" + key
	storeURL    = "/api/7/store/?sentry_key=" + key
)

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

func TestKeysInEveryForm(t *testing.T) {
	const other = "00000000000000000000000000000001"
	dsn := "{\"dsn\":\"https://" + key + "@errors.example.test/7\"}\n{\"type\":\"event\"}\n" + event
	for _, c := range []struct {
		name, query, header, value, body string
		want                             int
	}{
		{"query", "?sentry_key=" + key, "", "", envelope, 200},
		{"query among others", "?sentry_version=7&sentry_key=" + key + "&sentry_client=x%2F1", "", "", envelope, 200},
		{"query, encoded", "?sentry_key=%38e3a1d5c9b7f4e2a8c6d0f1e2b3a4c5d", "", "", envelope, 200},
		{"X-Sentry-Auth", "", "X-Sentry-Auth", "Sentry sentry_version=7, sentry_client=x/1, sentry_key=" + key, envelope, 200},
		{"with a secret", "", "X-Sentry-Auth", "Sentry sentry_key=" + key + ", sentry_secret=abc, sentry_version=4", envelope, 200},
		{"any case, no blanks", "", "X-Sentry-Auth", "SENTRY SENTRY_KEY=" + key + ",sentry_version=7", envelope, 200},
		{"Authorization", "", "Authorization", "Sentry sentry_key=" + key, envelope, 200},
		{"Basic", "", "Authorization", basic(key, ""), envelope, 200},
		{"Basic with a secret", "", "Authorization", basic(key, "secret"), envelope, 200},
		{"DSN in the envelope", "", "", "", dsn, 200},
		{"the first form counts", "?sentry_key=" + key, "X-Sentry-Auth", "Sentry sentry_key=" + other, envelope, 200},
		{"an empty form does not", "?sentry_key=", "X-Sentry-Auth", "Sentry sentry_key=" + key, envelope, 200},

		{"none", "", "", "", envelope, 401},
		{"bearer is another door", "", "Authorization", "Bearer " + doortest.Token, envelope, 401},
		{"a scheme alone", "", "X-Sentry-Auth", "Sentry", envelope, 401},
		{"without scheme", "", "X-Sentry-Auth", "sentry_key=" + key, envelope, 401},
		{"broken basic", "", "Authorization", "Basic !!!", envelope, 401},
		{"DSN without a key", "", "", "", strings.Replace(dsn, key+"@", "", 1), 401},
		{"DSN that is none", "", "", "", "{\"dsn\":\":%\"}\n", 401},
		{"no key and an empty body", "", "", "", "", 400},
		{"unknown", "?sentry_key=" + other, "", "", envelope, 403},
		{"upper case", "?sentry_key=" + strings.ToUpper(key), "", "", envelope, 403},
		{"too long", "?sentry_key=" + key + "0", "", "", envelope, 403},
		{"quotes", "", "X-Sentry-Auth", `Sentry sentry_key="` + key + `"`, envelope, 200},
		{"injection", "?sentry_key=' OR 1=1", "", "", envelope, 403},
	} {
		h, recorder := newHandler(t)
		c.query = strings.ReplaceAll(c.query, " ", "%20")
		w := post(h, "/api/7/envelope/"+c.query, c.body, c.header, c.value)
		if w.Code != c.want {
			t.Errorf("%s: %d %s, want %d", c.name, w.Code, w.Body, c.want)
		}
		if taken := recorder.Count(); (taken == 1) != (c.want == 200) {
			t.Errorf("%s: %d events taken", c.name, taken)
		}
	}
}

func TestUnknownKeyAndForeignProjectLookTheSame(t *testing.T) {
	h, _ := newHandler(t)
	foreign := post(h, "/api/8/envelope/?sentry_key="+key, envelope)
	unknown := post(h, "/api/7/envelope/?sentry_key="+strings.Repeat("0", 32), envelope)
	if foreign.Code != http.StatusForbidden || foreign.Body.String() != unknown.Body.String() {
		t.Errorf("foreign: %d %s\nunknown: %d %s", foreign.Code, foreign.Body, unknown.Code, unknown.Body)
	}
}

func TestProjectComesFromTheKey(t *testing.T) {
	h, recorder := newHandler(t)
	post(h, envelopeURL, "{}\n{\"type\":\"event\"}\n"+`{"message":"x","project":"99","project_id":99}`)
	src := recorder.Source()
	if src.Project != 7 || src.KeyID != "public" || !src.Received.Equal(received) {
		t.Errorf("%+v", src)
	}
}

func TestPaths(t *testing.T) {
	for path, want := range map[string]int{
		"/api/7/envelope/": 200, "/api/7/envelope": 200, "/api/7/store/": 200, "/api/7/store": 200,
		"/prefix/api/7/envelope/": 200, "/api/007/envelope/": 200,
		"/api/7/minidump/": 404, "/api/x/envelope/": 404, "/api//envelope/": 404, "/api/-7/envelope/": 404, "/api/+7/envelope/": 404,
		"/api/18446744073709551616/envelope/": 404, "/7/envelope/": 404, "/": 404, "/envelope": 404, "/api/7/": 404,
	} {
		h, recorder := newHandler(t)
		body := envelope
		if strings.Contains(path, "store") {
			body = event
		}
		w := post(h, path+"?sentry_key="+key, body)
		if w.Code != want || (recorder.Count() == 1) != (want == 200) {
			t.Errorf("%s: %d %s, %d taken", path, w.Code, w.Body, recorder.Count())
		}
	}
	for _, pattern := range []string{"/api/{project}/envelope/", "/api/{project}/envelope", "/api/{project}/store/", "/api/{project}/store"} {
		h, _ := newHandler(t)
		mux := http.NewServeMux()
		mux.Handle(strings.Replace(pattern, "/envelope/", "/envelope/{$}", 1), h)
		w := post(mux, strings.Replace(pattern, "{project}", "7", 1)+"?sentry_key="+key, envelope)
		if strings.Contains(pattern, "envelope") && w.Code != 200 {
			t.Errorf("mounted at %s: %d %s", pattern, w.Code, w.Body)
		}
	}
}

// FuzzQueryString sends the same text as the query of the request and as the query
// in the event, where SDKs leave secrets.
func FuzzQueryString(f *testing.F) {
	f.Add("sentry_version=7&sentry_key=" + key)
	f.Add("page=2&token=secret&&=&a=b=c&%zz=%&sentry_key=%38e3a1d5c9b7f4e2a8c6d0f1e2b3a4c5d")
	f.Add("?a;b;sentry_key=" + key + "&\x00=\xff&é=€+%2B#top")
	f.Fuzz(func(t *testing.T, query string) {
		h, recorder := newHandler(t)
		document, err := json.Marshal(map[string]any{"message": "m", "request": map[string]any{"url": "/a", "query_string": query}})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, "/api/7/store/", bytes.NewReader(document))
		r.URL.RawQuery = query
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		named, want := false, 0
		for pair := range strings.SplitSeq(query, "&") {
			name, value, _ := strings.Cut(pair, "=")
			if plain, err := url.QueryUnescape(value); !named && name == "sentry_key" && err == nil && plain != "" {
				if named, want = true, http.StatusForbidden; plain == key {
					want = http.StatusOK
				}
			}
		}
		if !named {
			want = http.StatusUnauthorized
		}
		if w.Code != want || recorder.Count() != map[int]int{http.StatusOK: 1}[want] {
			t.Fatalf("%q: %d, %d events taken, want %d", query, w.Code, recorder.Count(), want)
		}
		var rules ingest.Rules
		for _, d := range recorder.Take() {
			if clean := rules.URI(d.URI); !strings.HasPrefix(clean, "/a") || len(clean) > ingest.MaxURI || !utf8.ValidString(clean) {
				t.Fatalf("%q became %q", query, clean)
			}
		}
	})
}

func FuzzAuthHeader(f *testing.F) {
	f.Add("sentry_key="+key, "Sentry sentry_key="+key, basic(key, "x"))
	f.Add("sentry_key=%zz&sentry_key="+key, "Sentry ,=,sentry_key", "Basic !")
	f.Add("", "sentry", "Sentry sentry_key= ")
	f.Fuzz(func(t *testing.T, query, own, authorization string) {
		r := httptest.NewRequest(http.MethodPost, "/api/7/envelope/", nil)
		r.URL.RawQuery = query
		r.Header.Set("X-Sentry-Auth", own)
		r.Header.Set("Authorization", authorization)
		found, ok := door.PublicKey(r)
		if ok != (found != "") {
			t.Errorf("key %q, found %t", found, ok)
		}
		if want := r.URL.Query().Get("sentry_key"); want != "" && !strings.Contains(query, "%") && !strings.ContainsAny(query, "+;") && found != want {
			t.Errorf("query %q: %q, want %q", query, found, want)
		}
	})
}

// A body with the key inside is opened only if that takes a fixed amount of
// memory.
func TestPackedBodiesWithTheirOwnKey(t *testing.T) {
	h, recorder := newHandler(t)
	dsn := "{\"dsn\":\"https://" + key + "@errors.example.test/7\"}\n{\"type\":\"event\"}\n" + event
	for _, p := range packers {
		want := 200
		if p.coding == "br" || p.coding == "zstd" {
			want = 401
		}
		packed := string(squeeze(t, p.writer, []byte(dsn)))
		if w := post(h, "/api/7/envelope/", packed, "Content-Encoding", p.coding); w.Code != want {
			t.Errorf("%s: %d %s, want %d", p.name, w.Code, w.Body, want)
		}
		if w := post(h, envelopeURL, packed, "Content-Encoding", p.coding); w.Code != 200 {
			t.Errorf("%s, key in the query: %d %s", p.name, w.Code, w.Body)
		}
	}
	if got := recorder.Count(); got != 8 {
		t.Errorf("%d events, want 8", got)
	}
}
