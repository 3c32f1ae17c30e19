//go:build clients

package clients

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

var schemathesisPackages = []string{"schemathesis==4.32.5"}

// TestSchemathesis: requests that the document allows are taken, those that it
// does not are refused, and every answer is as the document has it. What need not
// be so stands in testdata/schemathesis.json, each with its reason.
func TestSchemathesis(t *testing.T) {
	tool := filepath.Join(filepath.Dir(pythonWith(t, schemathesisPackages...)), "schemathesis")
	config, known := testdata(t, "schemathesis.toml"), testdata(t, "schemathesis.json")
	reasons(t, known)
	g := newGenerated(t)
	t.Setenv("ADMIN", g.Admin)
	t.Setenv("INGEST", g.Ingest)
	g.make(t, tool, "--no-color", "--config-file", config, "run", g.URL+"/api/v1/openapi.json", "--baseline", known)
}

func testdata(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// reasons fails the test for an entry of a baseline that does not say why.
func reasons(t *testing.T, baseline string) {
	t.Helper()
	text, err := os.ReadFile(baseline)
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Entries []struct{ ID, Operation, Check, Reason string }
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	for _, e := range list.Entries {
		if e.Reason == "" {
			t.Errorf("the entry %s has no reason: %s of %s", e.ID, e.Check, e.Operation)
		}
	}
}
