package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/errata-log/errata/ingest/legacy"
)

func TestImport(t *testing.T) {
	status, body := http.StatusOK, `{"data":{"rebuilt":true,"count":42,"files":2,"unreadable":3,
		"skipped":[{"file":"system/a.log","reason":"it is a symbolic link"}],"warnings":[{"file":"","reason":"it is slow"}]}}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != rebuildPath || r.Header.Get("Authorization") != "Bearer k" {
			t.Errorf("asked for %s %s", r.Method, r.URL)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	defer s.Close()
	const want = `imported 42 events from 2 files, 3 lines or entries could not be read
warning: it is slow
skipped system/a.log: it is a symbolic link
`
	if got := command(t, nil, "import", "--url", s.URL, "--key", "k"); got.code != exitOK || got.out != want || got.err != "" {
		t.Errorf("got %+v, want %q", got, want)
	}
	if got := command(t, nil, "import", "--json", "--url", s.URL, "--key", "k"); got.code != exitOK || !strings.HasPrefix(got.out, `{"count":42,"files":2,`) {
		t.Errorf("as JSON: %+v", got)
	}
	status, body = http.StatusConflict, `{"error":{"code":"already_running","message":"wait"}}`
	if got := command(t, nil, "import", "--url", s.URL, "--key", "k"); got.code != exitFailed || !strings.Contains(got.err, "already_running: wait") {
		t.Errorf("a second import: %+v", got)
	}
}

// TestProgressBars: each file gets a line, and nothing is drawn for nothing.
func TestProgressBars(t *testing.T) {
	var out bytes.Buffer
	bars := progressBars{w: &out}
	bars.show(legacy.Progress{})
	bars.show(legacy.Progress{File: "system/empty.log"})
	if out.Len() > 0 {
		t.Errorf("drawn: %q", out.String())
	}
	bars.show(legacy.Progress{File: "system/a.log", BytesTotal: 10})
	bars.show(legacy.Progress{File: "system/a.log", BytesDone: 30, BytesTotal: 20})
	bars.show(legacy.Progress{File: "system/b.log", BytesDone: 5, BytesTotal: 20})
	bars.finish()
	text := out.String()
	if !strings.Contains(text, "system/a.log") || !strings.Contains(text, "system/b.log") || strings.Count(text, "\n") != 2 {
		t.Errorf("drawn: %q", text)
	}
}
