package api_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/ingest/legacy"
	"github.com/errata-log/errata/ops"
)

// importer answers with its fields.
type importer struct {
	result   ops.ImportResult
	err      error
	progress ops.ImportProgress
	// during is called while the import runs, when it is not nil.
	during func(ctx context.Context)
}

// newImporter finds nothing to import.
func newImporter() *importer {
	return &importer{result: ops.ImportResult{Rebuilt: true, Skipped: []legacy.Note{}, Warnings: []legacy.Note{}}}
}

func (i *importer) Import(ctx context.Context) (ops.ImportResult, error) {
	if i.during != nil {
		i.during(ctx)
	}
	return i.result, i.err
}

func (i *importer) Importing() ops.ImportProgress { return i.progress }

const rebuildPath = "/api/v1/admin/tools/logs/errors/rebuild"

func TestRebuild(t *testing.T) {
	files := newImporter()
	b := newBench(t, func(c *api.Config) { c.Importer = files })
	key := b.key(t, access.ToolsRebuildErrorLogs)
	post := func(body string) *httptest.ResponseRecorder {
		return b.do(request{method: "POST", target: rebuildPath, key: key, body: body, headers: []string{"X-Request-Id: r"}})
	}
	golden(t, "rebuild_nothing", post(""))
	files.result = ops.ImportResult{
		Count: 42, Files: 2, Rebuilt: true, Unreadable: 3,
		Skipped:  []legacy.Note{{File: "system/a.log", Reason: "it is a symbolic link"}},
		Warnings: []legacy.Note{{File: "database/b.log", Reason: "3 lines could not be read"}},
	}
	golden(t, "rebuild", post(`{"anything":1}`))
	files.err = errata.Errorf(errata.KindAlreadyRunning, "an import is running")
	golden(t, "rebuild_running", post(""))
	if w := post("[]"); w.Code != http.StatusBadRequest {
		t.Errorf("an array for a body: %d", w.Code)
	}
	files.progress = ops.ImportProgress{Running: true, Progress: legacy.Progress{File: "system/a.log", BytesDone: 5, BytesTotal: 10, Lines: 2, Events: 1}}
	golden(t, "rebuild_progress", b.do(request{method: "GET", target: rebuildPath, key: key, headers: []string{"X-Request-Id: r"}}))
}

// TestRebuildOutlivesItsCaller: a caller that goes away does not stop the import.
func TestRebuildOutlivesItsCaller(t *testing.T) {
	begun, gone, after := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	files := newImporter()
	files.during = func(ctx context.Context) {
		close(begun)
		<-gone
		after <- ctx.Err()
	}
	b := newBench(t, func(c *api.Config) { c.Importer = files })
	key := b.key(t, access.ToolsRebuildErrorLogs)
	s := httptest.NewServer(b.handler)
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+rebuildPath, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	go func() {
		<-begun
		cancel()
	}()
	if resp, err := http.DefaultClient.Do(req); err == nil {
		resp.Body.Close()
		t.Error("the caller got an answer after all")
	}
	close(gone)
	if err := <-after; err != nil {
		t.Errorf("the import was stopped: %v", err)
	}
}

// TestRebuildHasNoDeadline: an import may take longer than any other answer.
func TestRebuildHasNoDeadline(t *testing.T) {
	const limit = 50 * time.Millisecond
	files := newImporter()
	files.during = func(context.Context) { <-time.After(3 * limit) }
	b := newBench(t, func(c *api.Config) { c.Importer = files })
	s := httptest.NewUnstartedServer(b.handler)
	s.Config.WriteTimeout = limit
	s.Start()
	defer s.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+rebuildPath, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+b.key(t, access.ToolsRebuildErrorLogs))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("%d %s, %v", resp.StatusCode, body, err)
	}
}
