//go:build !race

package sentry_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/errata-log/errata/ingest/door/doortest"
)

// unseen is how much growth the measurement may miss: what earlier requests had
// made the process hold and is given back meanwhile. It was 2 MB once.
const unseen = 8 << 20

// TestBombs sends each bomb through the door and the pipeline behind it. The
// process may grow by what one large request holds, and no more.
func TestBombs(t *testing.T) {
	h := pipelineHandler(t)
	post(h, envelopeURL, envelope) // fills what is made once
	if seen := growth(func() { runtime.KeepAlive(make([]byte, bombGrowth+unseen)) }); seen <= bombGrowth {
		t.Fatalf("the measurement sees %d bytes of %d", seen, bombGrowth+unseen)
	}
	for _, b := range append(compressedBombs(), plainBombs()...) {
		content := b.body(t)
		r := httptest.NewRequest(http.MethodPost, b.target, io.MultiReader(bytes.NewReader(content))) // no length: chunked
		r.Header.Set("Content-Encoding", b.coding)
		w := httptest.NewRecorder()
		began := doortest.CPU()
		grown := growth(func() { h.ServeHTTP(w, r) })
		took := doortest.CPU() - began
		if b.want == refused && (w.Code == http.StatusBadRequest || w.Code == http.StatusRequestEntityTooLarge) {
			b.want = w.Code
		}
		if w.Code != b.want || w.Body.Len() > 400 {
			t.Errorf("%s: %d %.500s, want %d", b.name, w.Code, w.Body, b.want)
		}
		if grown > bombGrowth {
			t.Errorf("%s: the process grew by %d MiB", b.name, grown>>20)
		}
		t.Logf("%-40s %8d bytes: %d, +%d KiB, %v", b.name, len(content), w.Code, grown>>10, took.Round(100*time.Microsecond))
	}
}
