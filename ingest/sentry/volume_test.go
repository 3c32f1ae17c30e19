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

// unseen is how much growth the measurement may miss: memory of earlier requests
// that is freed meanwhile. It was 2 MB once.
const unseen = 8 << 20

// TestBombs sends each bomb through the receiver and the pipeline. The process may
// not grow by more than one large request needs.
func TestBombs(t *testing.T) {
	h := pipelineHandler(t)
	post(h, envelopeURL, envelope) // makes what is made once
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
