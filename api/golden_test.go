package api_test

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// golden compares an answer with a file of testdata, which holds the status
// line and the indented body.
func golden(t *testing.T, name string, w *httptest.ResponseRecorder) {
	t.Helper()
	var got bytes.Buffer
	got.WriteString(w.Result().Status + "\n")
	if err := json.Indent(&got, w.Body.Bytes(), "", "  "); err != nil {
		t.Fatalf("%s: the answer is not JSON: %v\n%s", name, err, w.Body)
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
