package sentry_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/ingest/sentry"
)

var update = flag.Bool("update", false, "write the golden files anew")

var received = time.Date(2026, 11, 21, 3, 20, 0, 0, time.UTC)

// newHandler makes a handler before a recorder.
func newHandler(t testing.TB, configure ...func(*sentry.Config)) (*sentry.Handler, *doortest.Recorder) {
	t.Helper()
	recorder := &doortest.Recorder{}
	ids := 0
	cfg := sentry.Config{
		Accepter: recorder, Keyring: doortest.Keys{},
		Now:        func() time.Time { return received },
		NewID:      func() string { ids++; return fmt.Sprintf("%032x", ids) },
		Registerer: prometheus.NewRegistry(),
	}
	for _, c := range configure {
		c(&cfg)
	}
	h, err := sentry.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return h, recorder
}

// replay builds the request of a recording as the client sent it.
func replay(t testing.TB, rec doortest.Recording) *http.Request {
	t.Helper()
	content := rec.Body
	if rec.Header.Get("Content-Encoding") == "gzip" {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		if _, err := z.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		content = packed.Bytes()
	}
	var from io.Reader = bytes.NewReader(content)
	if rec.Chunked {
		from = io.MultiReader(from) // hides the length
	}
	r := httptest.NewRequest(rec.Method, rec.Target, from)
	r.Header = rec.Header.Clone()
	r.RemoteAddr = "192.0.2.99:40000"
	return r
}

func recordings(t testing.TB, name string) []doortest.Recording {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	all, err := doortest.Recordings(file)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return all
}

func TestRecordedRequestsBecomeDrafts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.http")
	if err != nil || len(files) == 0 {
		t.Fatalf("recordings: %v, %v", files, err)
	}
	got := "# what each recorded request becomes; sent from 192.0.2.99, roots cut, query not yet filtered\n"
	for _, file := range files {
		name := filepath.Base(file)
		for i, rec := range recordings(t, name) {
			h, recorder := newHandler(t)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, replay(t, rec))
			if w.Code != http.StatusOK {
				t.Errorf("%s #%d: %d %s", name, i+1, w.Code, w.Body)
			}
			got += fmt.Sprintf("%s #%d\n", name, i+1)
			drafts := recorder.Take()
			if len(drafts) == 0 {
				got += "  no record\n"
			}
			for _, d := range drafts {
				got += "  " + doortest.Line(d, "/srv/app/") + "\n"
			}
			checkAnswer(t, w, drafts != nil && drafts[0].Context.Source == "sentry")
		}
	}
	compareGolden(t, "expected.txt", got)
}

func checkAnswer(t *testing.T, w *httptest.ResponseRecorder, event bool) {
	t.Helper()
	body := w.Body.String()
	if event != strings.HasPrefix(body, `{"id":"`) {
		t.Errorf("answer %s for a request with event: %t", body, event)
	}
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
