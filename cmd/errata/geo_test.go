package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGeoInstallWithoutItsTools: without npm the error says what else to do, and no file
// is left.
func TestGeoInstallWithoutItsTools(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	data := t.TempDir()
	got := command(t, nil, "geo", "install", "--data", data)
	if got.code != exitFailed || got.out != "" || !strings.Contains(got.err, "npm is needed") || !strings.Contains(got.err, "by hand") {
		t.Errorf("code %d, stdout %q, stderr %q", got.code, got.out, got.err)
	}
	left, err := os.ReadDir(filepath.Join(data, "geo"))
	if err != nil || len(left) != 0 {
		t.Errorf("%v is left behind (%v)", left, err)
	}
}
